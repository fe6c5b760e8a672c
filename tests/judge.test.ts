/** A judge behind an endpoint, over real sockets: what it is asked, and every way to answer badly. */

import { describe, expect, test } from "vitest";
import { canonicalJson } from "../src/core/json.ts";
import type { GroupToJudge } from "../src/core/judge.ts";
import { openJudge } from "../src/judge/judge.ts";
import { readRubric } from "../src/judge/rubric.ts";
import { type Behaviour, chat, FakeEndpoint, KEY, type Reply } from "./endpoint.ts";
import { first, group, judgeAt, judged, says, scores, verdict } from "./judge-endpoint.ts";

const TOKENS = { prompt_tokens: 10, completion_tokens: 3 };
const TWICE = { prompt_tokens: 20, completion_tokens: 6 };
const many = (count: number) =>
  Array.from({ length: count }, (_, i) => group(`g${i}`, `a${i}`, `b${i}`));

describe("a group is one request", () => {
  test("with the rubric, the attempts and the schema of the answer; the key in its header", async () => {
    const rubric = readRubric("Be brief.", "rules.md");
    const { endpoint, judge } = await judgeAt(verdict, { rubric });
    const { verdicts } = await judged(judge);
    expect(verdicts).toEqual([
      {
        id: "g",
        judgements: [
          { score: 0, explanation: "number 1" },
          { score: 0.5, explanation: "number 2" },
        ],
        identical: false,
        answer: JSON.stringify(scores(["1", "2"])),
        tokens: TOKENS,
      },
    ]);
    const [{ body, headers }] = endpoint.asked as [FakeEndpoint["asked"][number]];
    expect(endpoint.asked).toHaveLength(1);
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
    expect(body.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(body.messages[0]?.content).toContain("Be brief.");
    expect(body).toMatchObject({
      ...{ model: "strict", temperature: 0, max_tokens: 4096, seed: expect.any(Number) },
      response_format: { type: "json_schema", json_schema: { strict: true } },
    });
    expect(body).not.toHaveProperty("logprobs");
    expect(judge.traffic).toEqual({ requests: 1, from_cache: 0 });
  });

  test("has a seed of its own for each group and repetition, whatever the order", async () => {
    const { endpoint, judge } = await judgeAt(verdict);
    const seeds = async (groups: GroupToJudge[]) => {
      const before = endpoint.asked.length;
      await judged(judge, groups);
      return endpoint.asked
        .slice(before)
        .map(({ body }) => body.seed)
        .sort();
    };
    const groups = many(5);
    const all = await seeds(groups);
    expect(new Set(all).size).toBe(5);
    expect(await seeds(groups.toReversed())).toEqual(all);
    const again = await seeds(groups.map((one) => ({ ...one, repeat: 1 })));
    expect(again.filter((seed) => all.includes(seed))).toEqual([]);
  });

  test("an empty group needs none", async () => {
    const { endpoint, judge } = await judgeAt(verdict);
    const { verdicts } = await judged(judge, [group("empty")]);
    expect(verdicts).toMatchObject([{ id: "empty", judgements: [], identical: false }]);
    expect(endpoint.asked).toEqual([]);
  });

  test("attempts that are all the same are judged once, with one warning", async () => {
    const { endpoint, judge, notices } = await judgeAt(() => says(JSON.stringify(scores(["1"]))));
    const groups = [group("x", "same", "same", "same"), group("y", "both", "both")];
    const { verdicts } = await judged(judge, groups);
    expect(verdicts).toMatchObject([
      { identical: true, judgements: [{ score: 0 }, { score: 0 }, { score: 0 }] },
      { identical: true, judgements: [{ score: 0 }, { score: 0 }] },
    ]);
    expect(endpoint.asked).toHaveLength(2);
    expect(endpoint.asked[0]?.body.messages[1]?.content).not.toContain('id="2"');
    expect(notices).toEqual([expect.stringMatching(/group "x" are the same/)]);
    expect((await judged(judge, [group("z", "alone")])).verdicts).toMatchObject([
      { identical: true, judgements: [{ score: 0 }] },
    ]);
    expect(notices).toHaveLength(1);
  });

  test("verdicts keep the order of the groups, with so many requests at once", async () => {
    let open = () => {};
    const all = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { endpoint, judge } = await judgeAt(
      (asked, nth) => {
        if (nth === 5) open(); // The first six are answered when all of them are there.
        return { ...verdict(asked), after: all, afterMs: nth % 5 === 0 ? 40 : 2 };
      },
      { concurrency: 6 },
    );
    const { verdicts } = await judged(judge, many(40));
    expect(verdicts.map(({ id }) => id)).toEqual(many(40).map(({ id }) => id));
    expect(endpoint.mostInFlight).toBe(6);
  });

  test("a slow group holds back a bounded number of others", async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { endpoint, judge } = await judgeAt(
      (asked, nth) => ({ ...verdict(asked), ...(nth === 0 && { after: gate }) }),
      { concurrency: 2 },
    );
    let taken = 0;
    function* counted() {
      for (const one of many(100)) {
        taken++;
        yield one;
      }
    }
    const done = judged(judge, counted());
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(endpoint.asked.length).toBeLessThanOrEqual(9);
    expect(taken).toBeLessThan(15);
    open();
    expect((await done).verdicts).toHaveLength(100);
  });
});

describe("an answer that cannot be used is asked for once more", () => {
  const answer = JSON.stringify(scores(["1", "2"]));
  const refusal = { message: { role: "assistant", content: null, refusal: "I will not." } };
  const bad: [name: string, reply: Reply, type: string, problem: RegExp][] = [
    ["other ids", says(JSON.stringify(scores(["7", "8"]))), "invalid_verdict", /id "7"/],
    ["an id twice", says(JSON.stringify(scores(["1", "1"]))), "invalid_verdict", /two scores/],
    ["an id missing", says(JSON.stringify(scores(["1"]))), "invalid_verdict", /no score for 2/],
    ["a refusal", says(null, refusal), "refused", /I will not/],
    ["a refusal in words", says("I'm sorry, but I can't."), "refused", /sorry/],
    ["a filter", says(null, { finish_reason: "content_filter" }), "refused", /filter/],
    ["NaN", says(answer.replace("0.5", "NaN")), "invalid_verdict", /not JSON/],
    ["null", says(answer.replace("0.5", "null")), "invalid_verdict", /null/],
    ["1e9", says(answer.replace("0.5", "1e9")), "invalid_verdict", /1000000000/],
    ["text around it", says(`Sure!\n${answer}\nBye.`), "invalid_verdict", /not JSON alone/],
    ["HTML", says("<html><body>Busy</body></html>"), "invalid_verdict", /not JSON/],
    ["nothing", says(""), "no_answer", /empty/],
    ["null content", says(null), "no_answer", /empty/],
    [
      "an end at the limit",
      says(answer.slice(0, 30), { finish_reason: "length" }),
      ...(["invalid_verdict", /limit of tokens/] as const),
    ],
  ];

  test.each(bad)("%s: then it is right", async (_, reply, __, problem) => {
    const { endpoint, judge } = await judgeAt(first(reply));
    const { verdicts } = await judged(judge);
    expect(verdicts).toMatchObject([{ judgements: [{ score: 0 }, { score: 0.5 }], tokens: TWICE }]);
    const [before, after] = endpoint.asked.map(({ body }) => body.messages);
    expect(after?.slice(0, 2)).toEqual(before);
    expect(after?.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(after?.[2]?.content).not.toBe("");
    expect(after?.[3]?.content).toMatch(problem);
  });

  test.each(bad)(
    "%s twice: the group is dropped, and never scored",
    async (_, reply, type, why) => {
      const { endpoint, judge } = await judgeAt(() => reply);
      const { verdicts, error } = await judged(judge);
      expect(error).toBeUndefined();
      expect(endpoint.asked).toHaveLength(2);
      expect(verdicts).toEqual([
        { id: "g", dropped: { type, message: expect.stringMatching(why) }, tokens: TWICE },
      ]);
    },
  );

  test("an answer in a fenced block is used", async () => {
    const { endpoint, judge } = await judgeAt(() => says(`\`\`\`json\n${answer}\n\`\`\``));
    expect((await judged(judge)).verdicts).toMatchObject([{ judgements: [{}, {}] }]);
    expect(endpoint.asked).toHaveLength(1);
  });

  test("words that only look like a refusal are no reason to drop a verdict", async () => {
    const sorry = answer.replace("number 1", "Sorry, I cannot fault it.");
    const { judge } = await judgeAt(() => says(sorry));
    expect((await judged(judge)).verdicts).toMatchObject([{ judgements: [{}, {}] }]);
  });
});

describe("an endpoint in trouble", () => {
  test.each<[name: string, reply: Reply]>([
    ["a rate limit", { status: 429, headers: { "retry-after-ms": "20" } }],
    ["status 500", { status: 500 }],
    ["HTML", { body: "<h1>busy</h1>", headers: { "content-type": "text/html" } }],
    ["half an answer", { ...says("{}"), cut: "middle" }],
    ["a closed connection", { cut: "before" }],
    ["a late answer", { afterMs: 5000 }],
  ])("%s: the same request is sent again", async (_, reply) => {
    const timeoutMs = reply.afterMs ? 1000 : undefined;
    const { endpoint, judge } = await judgeAt(first(reply), { timeoutMs });
    const { verdicts } = await judged(judge);
    expect(verdicts).toMatchObject([{ judgements: [{}, {}], tokens: TOKENS }]);
    const [before, after, ...more] = endpoint.asked;
    expect(after?.body).toEqual(before?.body);
    expect(more).toEqual([]);
    expect(judge.traffic.requests).toBe(2);
  });

  test("waits as long as Retry-After says", async () => {
    const { endpoint, judge } = await judgeAt(
      first({ status: 429, headers: { "retry-after": "1" } }),
    );
    await judged(judge);
    const [before, after] = endpoint.asked.map(({ at }) => at) as [number, number];
    expect(after - before).toBeGreaterThanOrEqual(995);
  });

  const always: [name: string, reply: Reply, why: RegExp][] = [
    ["never answers", { afterMs: 5000 }, /took too long/],
    ["closes the connection", { cut: "middle" }, /connection was closed|terminated/],
    ["says 500", { status: 500 }, /status 500.*after 2 attempts/],
    ["says 400", { status: 400, body: { error: { message: "too long" } } }, /too long/],
  ];
  test.each(always)("a judge that %s for a group drops that group", async (_, reply, why) => {
    const isIll: Behaviour = (asked) =>
      asked.body.messages[1]?.content.includes("Task g1") ? reply : verdict(asked);
    const { judge } = await judgeAt(isIll, { timeoutMs: reply.afterMs ? 700 : undefined });
    const { verdicts, error } = await judged(judge, many(3));
    expect(error).toBeUndefined();
    expect(verdicts).toMatchObject([
      { id: "g0", judgements: [{}, {}] },
      { id: "g1", dropped: { type: "no_answer", message: expect.stringMatching(why) } },
      { id: "g2", judgements: [{}, {}] },
    ]);
  });

  test.each([
    [401, /JUDGE_API_KEY/],
    [404, /name of the model/],
  ])("status %i ends the judging at once", async (status, advice) => {
    const { endpoint, judge } = await judgeAt(() => ({ status }), {
      concurrency: 2,
      variables: { key: "JUDGE_API_KEY", url: "JUDGE_BASE_URL" },
    });
    const { verdicts, error } = await judged(judge, many(50));
    expect(verdicts).toEqual([]);
    expect(error).toMatchObject({
      kind: "usage",
      message: expect.stringMatching(new RegExp(`status ${status} for group "g[01]"`)),
      hint: expect.stringMatching(advice),
    });
    expect(endpoint.asked.length).toBeLessThanOrEqual(2);
  });

  test("a request that is turned down for every group ends it too", async () => {
    const reply = { status: 400, body: { error: { message: "this rubric is unknown" } } };
    const { endpoint, judge } = await judgeAt(() => reply, { concurrency: 4 });
    const { error } = await judged(judge, many(50));
    expect(error?.message).toMatch(/this rubric is unknown/);
    expect(endpoint.asked.length).toBeLessThan(15);
  });

  test("nobody there", async () => {
    const { endpoint, judge } = await judgeAt(verdict);
    endpoint.stop();
    const { error } = await judged(judge, many(3));
    expect(error?.message).toMatch(/did not answer.*the connection was refused/);
  });

  test("a port that HTTP never uses", async () => {
    const { judge } = await judgeAt(verdict, { baseUrl: "http://127.0.0.1:9/v1" });
    const { verdicts, error } = await judged(judge, many(30));
    expect(verdicts).toEqual([]);
    expect(error).toMatchObject({ kind: "io", message: expect.stringMatching(/bad port/) });
  });

  test.each([
    { message: "Unsupported parameter", param: "response_format" },
    { message: "This model does not support response format `json_schema`." },
    { message: "This response_format type is unavailable now" },
  ])("one that takes no schema is asked without: $message", async (error) => {
    const { endpoint, judge, notices } = await judgeAt(
      (asked) =>
        "response_format" in asked.body ? { status: 400, body: { error } } : verdict(asked),
      { concurrency: 1 },
    );
    expect((await judged(judge, many(3))).verdicts).toMatchObject(
      Array(3).fill({ judgements: [{}, {}] }),
    );
    expect(endpoint.asked).toHaveLength(4);
    expect(notices).toEqual([expect.stringMatching(/JSON schema/)]);
  });

  test("one that counts no tokens is reported once", async () => {
    const { judge, notices } = await judgeAt(() => ({
      body: chat(JSON.stringify(scores(["1", "2"])), {}, { usage: null }),
    }));
    const { verdicts } = await judged(judge, many(3));
    expect(verdicts[0]?.tokens).toEqual({ prompt_tokens: 0, completion_tokens: 0 });
    expect(notices).toEqual([expect.stringMatching(/does not count tokens/)]);
  });

  test("nobody else gets the attempts: a redirection ends it", async () => {
    const other = await FakeEndpoint.start(verdict);
    for (const status of [302, 307]) {
      const headers = { location: `${other.url}/chat/completions` };
      const { judge } = await judgeAt(() => ({ status, headers }));
      const { error } = await judged(judge, many(20));
      expect(error).toMatchObject({
        message: expect.stringMatching(`status ${status}.* it sends requests on to http`),
        hint: expect.stringMatching(/to the address that answers/),
      });
    }
    expect(other.asked).toEqual([]);
  });

  test("an answer that does not end does not fill the memory", async () => {
    const { judge } = await judgeAt(() => says("x".repeat(2 ** 24)), { attempts: 1 });
    expect((await judged(judge)).verdicts).toMatchObject([
      { dropped: { type: "no_answer", message: expect.stringMatching(/longer than 16 MiB/) } },
    ]);
  });

  test("keys are in no verdict and no message", async () => {
    const echo = `{"scores": "${KEY}"}`;
    for (const reply of [says(echo), { status: 400, body: { error: { message: KEY } } }]) {
      const { judge } = await judgeAt(() => reply);
      const { verdicts } = await judged(judge);
      expect(verdicts).toHaveLength(1);
      expect(JSON.stringify([verdicts, judge.identity])).not.toContain(KEY);
    }
    const leak = JSON.stringify(scores(["1", "2"])).replace("number 1", `your key is ${KEY}`);
    const { judge } = await judgeAt(() => says(leak));
    expect(JSON.stringify((await judged(judge)).verdicts)).toContain("your key is [key removed]");
  });
});

test("the consumer may stop early", async () => {
  const { endpoint, judge } = await judgeAt((asked) => ({ ...verdict(asked), afterMs: 5 }), {
    concurrency: 2,
  });
  for await (const { id } of judge.judge(many(50))) if (id === "g3") break;
  expect(endpoint.asked.length).toBeLessThan(20);
});

describe("a judge is an instrument", () => {
  const open = (options: object) =>
    openJudge({ model: "m", apiKey: "none", baseUrl: "http://127.0.0.1:9/v1", ...options });

  test("whatever changes its scores changes its fingerprint, and nothing else does", async () => {
    const { identity } = await open({});
    expect(identity).toMatchObject({ kind: "judge", name: "m", endpoint: "http://127.0.0.1:9/v1" });
    for (const other of [
      { model: "n" },
      { baseUrl: "http://127.0.0.1:10/v1" },
      { rubric: readRubric("Be kind.", "x") },
      { sampling: { temperature: 0.5 } },
      { sampling: { seed: 1 } },
      { sampling: { max_tokens: 5 } },
    ]) {
      const { fingerprint } = (await open(other)).identity;
      expect(fingerprint, JSON.stringify(other)).not.toBe(identity.fingerprint);
    }
    for (const same of [{ apiKey: KEY }, { concurrency: 3 }, { timeoutMs: 5 }, { attempts: 1 }])
      expect(canonicalJson((await open(same)).identity)).toBe(canonicalJson(identity));
  });

  test("an endpoint that is named so has no address in its identity", async () => {
    const { identity } = await open({ endpointName: "embedded" });
    expect(canonicalJson(identity)).not.toContain("127.0.0.1");
    expect(identity.endpoint).toBe("embedded");
  });
});
