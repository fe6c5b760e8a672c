/** The answers of a judge on disk: a repeated run asks nothing, and damage is never believed. */

import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../src/core/json.ts";
import { openJudgeCache } from "../src/runs/judge-cache.ts";
import { ROOT, Workspace } from "./cli.ts";
import { type Behaviour, FakeEndpoint, KEY } from "./endpoint.ts";
import { first, group, idsIn, judgeAt, judged, says, scores, verdict } from "./judge-endpoint.ts";

const many = (count: number) =>
  Array.from({ length: count }, (_, i) => group(`g${i}`, `a${i}`, `b${i}`));

/** Other scores every time, as a judge with a temperature has them. */
const unsteady: Behaviour = (asked, nth) => {
  const entries = idsIn(asked).map((id) => ({
    ...{ trajectory_id: id, explanation: `answer ${nth}`, score: ((nth * 37) % 100) / 100 },
  }));
  return { ...says(JSON.stringify({ scores: entries })), afterMs: nth % 3 };
};

/** What one run gets, with a judge of its own and the cache in `folder`. */
async function run(folder: string, behave: Behaviour, groups = many(12), options = {}) {
  const cacheNotices: string[] = [];
  const cache = await openJudgeCache(folder, (text) => cacheNotices.push(text));
  const { endpoint, judge } = await judgeAt(behave, {
    ...{ cache, endpointName: "here", concurrency: 4, ...options },
  });
  const { verdicts, error } = await judged(judge, groups);
  return {
    bytes: canonicalJson(verdicts),
    verdicts,
    error,
    traffic: judge.traffic,
    endpoint,
    cacheNotices,
  };
}

const files = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
    .map((entry) => path.join(entry.parentPath, entry.name));

const api = (file: string) => path.join(ROOT, "dist", file);
const room = () => new Workspace().path("cache");

describe("a repeated run", () => {
  test("asks nothing and gives the same bytes, tokens included", async () => {
    const folder = room();
    const once = await run(folder, unsteady);
    const again = await run(folder, unsteady);
    expect(once.traffic).toEqual({ requests: 12, from_cache: 0 });
    expect(again.traffic).toEqual({ requests: 0, from_cache: 12 });
    expect(again.endpoint.asked).toEqual([]);
    expect(again.bytes).toBe(once.bytes);
    const uncached = await judgeAt(unsteady, { endpointName: "here", concurrency: 4 });
    const { verdicts } = await judged(uncached.judge, many(12));
    expect(canonicalJson(verdicts)).not.toBe(once.bytes);
  });

  test("gives the same drops as well; a group that got no answer is asked for again", async () => {
    const folder = room();
    const ill: Behaviour = (asked) => {
      const text = asked.body.messages[1]?.content ?? "";
      if (text.includes("Task g0")) return says("I'm sorry, no.");
      if (text.includes("Task g1")) return says("chatter");
      return text.includes("Task g2") ? { status: 400 } : verdict(asked);
    };
    const once = await run(folder, ill, many(4));
    const again = await run(folder, ill, many(4));
    expect(once.verdicts.map((one) => ("dropped" in one ? one.dropped.type : "judged"))).toEqual([
      ...["refused", "invalid_verdict", "no_answer", "judged"],
    ]);
    expect(again.traffic).toEqual({ requests: 1, from_cache: 5 });
    expect(again.bytes).toBe(once.bytes);
    expect(once.bytes).toContain("the judge (here) answered with status 400");
  });

  test("does not depend on which parameters the endpoint turned down", async () => {
    const folder = room();
    const picky: Behaviour = (asked) =>
      "response_format" in asked.body
        ? { status: 400, body: { error: { message: "unknown", param: "response_format" } } }
        : verdict(asked);
    const once = await run(folder, picky);
    const again = await run(folder, picky);
    expect(again.traffic.requests).toBe(0);
    expect(again.bytes).toBe(once.bytes);
  });

  test.each<[name: string, change: object]>([
    ["another model", { model: "other" }],
    ["another endpoint", { endpointName: "there" }],
    ["another seed", { sampling: { seed: 9 } }],
    ["another temperature", { sampling: { temperature: 1 } }],
  ])("with %s asks again", async (_, change) => {
    const folder = room();
    await run(folder, verdict, many(2));
    expect((await run(folder, verdict, many(2), change)).traffic.requests).toBe(2);
    expect((await run(folder, verdict, many(2), { apiKey: "another-key" })).traffic.requests).toBe(
      0,
    );
  });
});

describe("the same request at the same time", () => {
  test("gets one answer within a run", async () => {
    const folder = room();
    const same = Array.from({ length: 8 }, () => group("g", "a", "b"));
    const once = await run(folder, unsteady, same);
    expect(once.traffic.requests).toBe(1);
    expect(new Set(once.verdicts.map((one) => canonicalJson(one))).size).toBe(1);
    expect((await run(folder, unsteady, same)).bytes).toBe(once.bytes);
  });

  test("gets the first answer in two runs side by side", async () => {
    const folder = room();
    const other: Behaviour = (asked, nth) => unsteady(asked, nth + 50);
    const [one, two] = await Promise.all([run(folder, unsteady), run(folder, other)]);
    expect(one.traffic.requests + two.traffic.requests).toBeGreaterThan(12);
    expect(two.bytes).toBe(one.bytes);
    expect((await run(folder, unsteady)).bytes).toBe(one.bytes);
    expect(files(folder)).toHaveLength(12);
    expect(readdirSync(folder, { recursive: true }).join("\n")).not.toContain("partial");
  });
});

describe("trouble with the files", () => {
  test.each<[name: string, damage: (text: string) => string]>([
    ["cut short", (text) => text.slice(0, text.length / 2)],
    ["empty", () => ""],
    ["of another version", (text) => text.replace("judge-answer@1", "judge-answer@9")],
    ["with another score in it", (text) => text.replace("answer ", "Answer ")],
    ["no text", () => "\u0000\u0001"],
    ["null", () => "null"],
  ])("a file that is %s is as if absent, and is written again", async (_, damage) => {
    const folder = room();
    const once = await run(folder, verdict, many(3));
    const [file = ""] = files(folder);
    const text = readFileSync(file, "utf8").replace("number 1", "answer 1");
    writeFileSync(file, damage(text));
    const again = await run(folder, verdict, many(3));
    expect(again.traffic).toEqual({ requests: 1, from_cache: 2 });
    expect(again.bytes).toBe(once.bytes);
    expect(again.cacheNotices).toEqual([expect.stringMatching(/is damaged. The judge is asked/)]);
    expect((await run(folder, verdict, many(3))).traffic.requests).toBe(0);
  });

  test("an answer moved to another request's place is not taken for its own", async () => {
    const folder = room();
    await run(folder, unsteady, many(2));
    const [one = "", two = ""] = files(folder);
    writeFileSync(two, readFileSync(one));
    expect((await run(folder, unsteady, many(2))).traffic).toEqual({ requests: 1, from_cache: 1 });
  });

  test("a folder in the place of a file is reported once, and the judging goes on", async () => {
    const folder = room();
    const once = await run(folder, verdict, many(3));
    for (const file of files(folder)) {
      rmSync(file);
      mkdirSync(path.join(file, "occupied"), { recursive: true });
    }
    const again = await run(folder, verdict, many(3));
    expect(again.error).toBeUndefined();
    expect(again.bytes).toBe(once.bytes);
    expect(again.cacheNotices).toEqual([
      expect.stringMatching(/cannot read/),
      expect.stringMatching(/cannot write.*continues without it/),
    ]);
  });
});

test("a disk that fills up is reported once, and no verdict is lost", async () => {
  const folder = room();
  await openJudgeCache(folder);
  const { url } = await FakeEndpoint.start(verdict);
  const script = `
    import { openJudge } from ${JSON.stringify(api("judge/judge.js"))};
    import { openJudgeCache } from ${JSON.stringify(api("runs/judge-cache.js"))};
    const notices = [];
    const cache = await openJudgeCache(${JSON.stringify(folder)}, (text) => notices.push(text));
    const judge = await openJudge({ baseUrl: "${url}", apiKey: "none", model: "m", cache });
    const verdicts = [];
    for await (const one of judge.judge(${JSON.stringify(many(5))})) verdicts.push(one);
    console.log(JSON.stringify({ verdicts, notices }));`;
  // No file may be longer than nothing, which is as near to a full disk as a test can come.
  const limited = [
    "-c",
    'ulimit -f 0; exec "$0" --input-type=module -e "$1"',
    process.execPath,
    script,
  ];
  const { stdout } = await promisify(execFile)("sh", limited);
  const { verdicts, notices } = JSON.parse(stdout) as { verdicts: object[]; notices: string[] };
  expect(verdicts).toMatchObject(Array(5).fill({ judgements: [{}, {}] }));
  expect(notices).toEqual([expect.stringMatching(/cannot write .*continues without it/)]);
  expect(files(folder)).toEqual([]);
});

test("keys are in no file, not even where the judge repeats them", async () => {
  const folder = room();
  const leak = JSON.stringify(scores(["1", "2"])).replace("number 1", `key ${KEY}`);
  await run(folder, first(says(leak)), many(1));
  const [file = ""] = files(folder);
  expect(readFileSync(file, "utf8")).toContain("key [key removed]");
  expect(readFileSync(file, "utf8")).not.toContain(KEY);
});
