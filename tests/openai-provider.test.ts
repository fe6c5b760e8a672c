/** The policy behind an OpenAI-compatible endpoint, against a real server that misbehaves. */

import { describe, expect, test } from "vitest";
import { LockedRoomError } from "../src/core/errors.ts";
import type { SampledCompletion, SampleRequest, SamplingSettings } from "../src/core/policy.ts";
import { type OpenAiOptions, openOpenAiPolicy } from "../src/providers/openai.ts";
import { chat, completionOf, FakeEndpoint, good, KEY, LOGPROBS, type Reply } from "./endpoint.ts";

const SAMPLING: SamplingSettings = {
  temperature: 0.7,
  top_k: 0,
  top_p: 0.9,
  max_tokens: 32,
  stop: [],
  seed: 5,
};

const policyAt = (endpoint: FakeEndpoint, options: Partial<OpenAiOptions> = {}) =>
  openOpenAiPolicy({
    model: "tiny",
    apiKey: KEY,
    baseUrl: endpoint.url,
    sampling: SAMPLING,
    backoffMs: 2,
    ...options,
  });

const asks = (count: number, samples = 1): SampleRequest[] =>
  Array.from({ length: count * samples }, (_, i) => ({
    example: { id: `e${Math.floor(i / samples)}`, prompt: `${Math.floor(i / samples)} + 1` },
    sample: i % samples,
  }));

/** Everything said, in the order it came, and the error that ended it if one did. */
async function said(
  endpoint: FakeEndpoint,
  wanted: SampleRequest[],
  options?: Partial<OpenAiOptions>,
) {
  const policy = await policyAt(endpoint, options);
  const answers: (readonly [SampleRequest, SampledCompletion])[] = [];
  let error: unknown;
  try {
    for await (const pair of policy.sample(wanted)) answers.push(pair);
  } catch (thrown) {
    error = thrown;
  }
  await policy.close();
  return { answers, error: error as LockedRoomError | undefined };
}

/** Gives these replies one after the other, then good ones. */
const first =
  (...replies: Reply[]) =>
  (_: unknown, nth: number) =>
    replies[nth];

describe("what is asked", () => {
  test("the system text, the prompt, the settings, and the key in its header", async () => {
    const endpoint = await FakeEndpoint.start();
    const sampling = { ...SAMPLING, stop: ["\n"], top_k: 3 };
    await said(endpoint, asks(1), { system: "Be brief.", sampling });
    const [{ body, headers }] = endpoint.asked as [FakeEndpoint["asked"][number]];
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
    expect(body).toEqual({
      model: "tiny",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "0 + 1" },
      ],
      temperature: 0.7,
      top_p: 0.9,
      top_k: 3,
      max_tokens: 32,
      stop: ["\n"],
      seed: expect.any(Number),
      logprobs: true,
    });
  });

  test("a seed for each (seed, example, sample), whatever the order", async () => {
    const endpoint = await FakeEndpoint.start();
    const seedOf = ({ prompt, body }: { prompt: string; body: { seed?: number } }) =>
      `${prompt} ${body.seed}`;
    await said(endpoint, asks(4, 3));
    const forward = endpoint.asked.map(seedOf).sort();
    expect(new Set(endpoint.asked.map(({ body }) => body.seed)).size).toBe(12);
    await said(endpoint, asks(4, 3).toReversed(), { concurrency: 3 });
    expect(endpoint.asked.slice(12).map(seedOf).sort()).toEqual(forward);
    await said(endpoint, asks(4, 3), { sampling: { ...SAMPLING, seed: 6 } });
    expect(endpoint.asked.slice(24).map(seedOf).sort()).not.toEqual(forward);
  });

  test("never more at once than the limit, and as many as that", async () => {
    const endpoint = await FakeEndpoint.start(() => ({ afterMs: 20 }));
    const { answers } = await said(endpoint, asks(20), { concurrency: 4 });
    expect(answers).toHaveLength(20);
    expect(endpoint.mostInFlight).toBe(4);
  });
});

describe("what is said", () => {
  test.each<[name: string, body: object, expected: Partial<SampledCompletion>]>([
    [
      "log-probs and usage",
      chat("Final: 1", { logprobs: LOGPROBS }),
      {
        completion: "Final: 1",
        finish: "stop",
        prompt_tokens: 10,
        completion_tokens: 3,
        logprobs: [-0.5, -0.25, -0.125],
      },
    ],
    ["no log-probs", chat("x", { logprobs: null }), { completion: "x", logprobs: null }],
    [
      "log-probs with a hole",
      chat("x", { logprobs: { content: [{ logprob: -1 }, { logprob: null }] } }),
      { logprobs: null },
    ],
    ["cut at the limit", chat("x", { finish_reason: "length" }), { finish: "length" }],
    [
      "no usage",
      chat("x", {}, { usage: undefined }),
      { usage_missing: true, prompt_tokens: 0, completion_tokens: 0 },
    ],
    [
      "usage that is no count",
      chat("x", {}, { usage: { prompt_tokens: -1, completion_tokens: "3" } }),
      { usage_missing: true },
    ],
    ["nothing", chat(""), { completion: "" }],
    [
      "a refusal",
      chat(null, { message: { role: "assistant", content: null, refusal: "I will not." } }),
      { completion: "", refusal: "I will not." },
    ],
    [
      "a filter",
      chat(null, { finish_reason: "content_filter" }),
      { completion: "", finish_reason: "content_filter" },
    ],
    ["no reason", chat("x", { finish_reason: null }), { finish_reason: "unknown" }],
  ])("%s", async (_, body, expected) => {
    const endpoint = await FakeEndpoint.start(() => ({ body }));
    const { answers, error } = await said(endpoint, asks(1));
    expect(error).toBeUndefined();
    expect(answers[0]?.[1]).toMatchObject(expected);
  });
});

describe("temporary trouble is tried again", () => {
  test.each<[name: string, reply: Reply]>([
    ["500", { status: 500 }],
    [
      "503 with HTML",
      { status: 503, body: "<h1>no</h1>", headers: { "content-type": "text/html" } },
    ],
    ["429", { status: 429 }],
    ["408", { status: 408 }],
    ["JSON cut short", { body: '{"choices": [' }],
    ["JSON of something else", { body: { hello: 1 } }],
    ["text with status 200", { body: "hello", headers: { "content-type": "text/plain" } }],
    ["a reset before the answer", { cut: "before" }],
    ["a reset in the middle of it", { cut: "middle" }],
  ])("%s", async (_, reply) => {
    const endpoint = await FakeEndpoint.start(first(reply, reply));
    const { answers, error } = await said(endpoint, asks(1));
    expect(error).toBeUndefined();
    expect(answers[0]?.[1].completion).toBe(completionOf(endpoint.asked[2] as never));
    expect(endpoint.asked).toHaveLength(3);
    const seeds = new Set(endpoint.asked.map(({ body }) => body.seed));
    expect(seeds.size, "the same request each time").toBe(1);
  });

  test("an answer that takes too long, before or within it", async () => {
    const endpoint = await FakeEndpoint.start(first({ afterMs: 5000 }));
    const started = Date.now();
    const { answers } = await said(endpoint, asks(1), { timeoutMs: 100 });
    expect(answers).toHaveLength(1);
    expect(Date.now() - started).toBeLessThan(4000);
  });

  test.each([
    ["retry-after", "1", 1000],
    ["retry-after-ms", "300", 300],
  ])("not before %s: %s has passed", async (name, value, least) => {
    const endpoint = await FakeEndpoint.start(first({ status: 429, headers: { [name]: value } }));
    await said(endpoint, asks(1));
    const [before, after] = endpoint.asked.map(({ at }) => at) as [number, number];
    expect(after - before).toBeGreaterThanOrEqual(least - 5);
    expect(after - before).toBeLessThan(least + 3000);
  });

  test("each wait is longer than the last", async () => {
    const endpoint = await FakeEndpoint.start(first(...Array(5).fill({ status: 500 })));
    await said(endpoint, asks(1), { backoffMs: 40 });
    const gaps = endpoint.asked.slice(1).map(({ at }, i) => at - (endpoint.asked[i]?.at ?? 0));
    for (const [i, gap] of gaps.entries())
      expect(gap).toBeGreaterThanOrEqual(40 * 2 ** i * 0.75 - 3);
  });

  test("but not for ever", async () => {
    const endpoint = await FakeEndpoint.start(() => ({
      status: 500,
      body: { error: { message: "broken pipe dream" } },
    }));
    const { error } = await said(endpoint, asks(1), { attempts: 3 });
    expect(endpoint.asked).toHaveLength(3);
    expect(error).toMatchObject({ kind: "io" });
    expect(error?.message).toMatch(/status 500.*after 3 attempts: broken pipe dream/);
  });

  test("and not when the wait is for a person to decide", async () => {
    const endpoint = await FakeEndpoint.start(() => ({
      status: 429,
      headers: { "retry-after": "86400" },
    }));
    const { error } = await said(endpoint, asks(1));
    expect(endpoint.asked).toHaveLength(1);
    expect(error?.message).toMatch(/asks to wait 86400 s/);
  });
});

describe("permanent trouble stops at once", () => {
  test.each([
    [401, "Incorrect API key", /OPENAI_API_KEY/],
    [403, "Not for you", /OPENAI_API_KEY/],
    [404, "The model does not exist", /model/],
    [400, "Too long a prompt", /Fix the cause/],
    [429, "You exceeded your quota", /Fix the cause/, "insufficient_quota"],
  ])("%i", async (status, message, advice, code = "other") => {
    const endpoint = await FakeEndpoint.start(() => ({
      status,
      body: { error: { message, code } },
    }));
    const { answers, error } = await said(endpoint, asks(30), { concurrency: 2 });
    expect(answers).toEqual([]);
    expect(endpoint.asked.length).toBeLessThanOrEqual(2);
    expect(error).toBeInstanceOf(LockedRoomError);
    expect(error).toMatchObject({
      kind: "usage",
      message: expect.stringContaining(`status ${status}`),
    });
    expect(error?.message).toContain(message);
    expect(error?.hint).toMatch(advice);
  });

  test.each([
    ["detail", { detail: [{ msg: "field required" }] }, "field required"],
    ["message", { object: "error", message: "no such adapter" }, "no such adapter"],
    ["plain text", "go away", "go away"],
  ])("with its words wherever they are: %s", async (_, body, words) => {
    const endpoint = await FakeEndpoint.start(() => ({ status: 400, body }));
    const { error } = await said(endpoint, asks(1));
    expect(error?.message).toContain(words);
  });

  test("what is in flight is still taken: it is paid for", async () => {
    const endpoint = await FakeEndpoint.start(({ prompt }) =>
      prompt === "3 + 1" ? { status: 401 } : { afterMs: 150 },
    );
    const { answers, error } = await said(endpoint, asks(8), { concurrency: 4 });
    expect(error?.message).toContain("401");
    expect(answers.map(([{ example }]) => example.id).sort()).toEqual(["e0", "e1", "e2"]);
    expect(endpoint.asked).toHaveLength(4);
  });

  test("a message is shortened and cannot command a terminal", async () => {
    const message = `\u001b[31m${"x".repeat(5000)}`;
    const endpoint = await FakeEndpoint.start(() => ({
      status: 400,
      body: { error: { message } },
    }));
    const { error } = await said(endpoint, asks(1));
    expect(error?.message).not.toContain("\u001b");
    expect(error?.message.length).toBeLessThan(800);
  });

  test("nobody there", async () => {
    const endpoint = await FakeEndpoint.start();
    endpoint.stop();
    const { error } = await said(endpoint, asks(1), { backoffMs: 60_000 });
    expect(error).toMatchObject({ kind: "io" });
    expect(error?.message).toMatch(/did not answer.*the connection was refused/);
  });
});

describe("an endpoint that cannot do everything", () => {
  test.each([
    [
      "logprobs",
      400,
      { message: "Unsupported parameter: 'logprobs' is not supported", param: "logprobs" },
    ],
    ["logprobs", 403, { message: "You are not allowed to request logprobs from this model." }],
    ["seed", 422, { message: "Extra inputs are not permitted: seed" }],
    [
      "max_tokens",
      400,
      {
        message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.",
        param: "max_tokens",
      },
    ],
  ])("is asked without %s (%i), and it is said once", async (name, status, error) => {
    const endpoint = await FakeEndpoint.start(({ body }) =>
      name in body ? { status, body: { error } } : undefined,
    );
    const notices: string[] = [];
    const result = await said(endpoint, asks(20), {
      concurrency: 5,
      onNotice: (text) => notices.push(text),
    });
    expect(result.error).toBeUndefined();
    expect(result.answers).toHaveLength(20);
    expect(notices).toEqual([expect.stringContaining(name)]);
    expect(endpoint.asked.filter(({ body }) => name in body).length).toBeLessThanOrEqual(5);
    if (name === "max_tokens") expect(endpoint.asked.at(-1)?.body.max_completion_tokens).toBe(32);
  });

  test("a 400 that speaks of something else is no reason to leave anything out", async () => {
    const endpoint = await FakeEndpoint.start(() => ({
      status: 400,
      body: { error: { message: "temperature is too hot" } },
    }));
    const { error } = await said(endpoint, asks(1));
    expect(endpoint.asked).toHaveLength(1);
    expect(error?.message).toContain("temperature is too hot");
  });
});

describe("keys", () => {
  test.each<[name: string, reply: (key: string) => Reply]>([
    ["in an error", (key) => ({ status: 401, body: { error: { message: `bad key ${key}` } } })],
    [
      "where it would be cut",
      (key) => ({ status: 401, body: { error: { message: `${"x".repeat(270)}${key}` } } }),
    ],
    ["in HTML", (key) => ({ status: 403, body: `<p>${key}</p>` })],
    ["in base64", (key) => ({ status: 400, body: { error: { message: btoa(key) } } })],
    ["in an answer", (key) => ({ body: chat(`You sent ${key}`) })],
    ["in a refusal", (key) => ({ body: chat(null, { message: { content: null, refusal: key } }) })],
    ["in a malformed answer", (key) => ({ body: { echo: `Bearer ${key}` } })],
  ])("are not repeated when the endpoint repeats them %s", async (_, reply) => {
    const endpoint = await FakeEndpoint.start(() => reply(KEY));
    const { answers, error } = await said(endpoint, asks(1), { attempts: 1 });
    const all = JSON.stringify([answers, error?.message, error?.hint, error?.stack, error?.cause]);
    expect(all).not.toContain(KEY.slice(0, 12));
    expect(all).not.toContain(btoa(KEY).slice(0, 12));
    expect(all, "the test can fail").toMatch(/key removed/);
  });

  test.each(["", "with space", "line\n", "ключ-ключ-ключ"])(
    "that no header can carry are refused: %j",
    async (apiKey) => {
      const endpoint = await FakeEndpoint.start();
      const error = await policyAt(endpoint, { apiKey }).then(
        () => undefined,
        (e: Error) => e,
      );
      expect(error?.message).toMatch(/OPENAI_API_KEY/);
      if (apiKey !== "") expect(String(error?.stack)).not.toContain(apiKey);
    },
  );

  test.each([
    "http://user:secret-word@127.0.0.1/v1",
    "http://127.0.0.1/v1?key=secret-word",
    "ftp://x",
    "nonsense secret-word",
  ])("in an address are refused: %s", async (baseUrl) => {
    const endpoint = await FakeEndpoint.start();
    const error = await policyAt(endpoint, { baseUrl }).then(
      () => undefined,
      (e: Error) => e,
    );
    expect(error).toMatchObject({
      kind: "usage",
      message: expect.stringContaining("OPENAI_BASE_URL"),
    });
    expect(error?.message).not.toContain("secret-word");
  });
});

test("identity: the model, where it is, and how an example becomes a prompt", async () => {
  const endpoint = await FakeEndpoint.start(() => ({ body: good }));
  const policy = await policyAt(endpoint, { baseUrl: `${endpoint.url}/` });
  expect(policy.identity).toEqual({ kind: "openai", name: "tiny", endpoint: endpoint.url });
  expect(policy.prompt).toEqual({ form: "chat messages", system_sha256: null });
  const other = await policyAt(endpoint, { system: "x" });
  expect(other.prompt.system_sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.stringify([policy.identity, policy.prompt, policy.sampling])).not.toContain(KEY);
});
