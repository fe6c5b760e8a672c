/** The judge that --judge names: the options, the keys, the rubric, the embedded one. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Command } from "commander";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { canonicalJson } from "../core/json.ts";
import type { GroupToJudge } from "../core/judge.ts";
import { addJudgeOptions, type JudgeFlags, openJudgeHere } from "./open-judge.ts";
import { openRecordedJudge } from "./recorded-judge.ts";

const room = mkdtempSync(path.join(tmpdir(), "lockedroom-judge-"));
afterAll(() => rmSync(room, { recursive: true }));

const VARIABLES = ["JUDGE_API_KEY", "JUDGE_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"];
beforeEach(() => {
  for (const name of VARIABLES) vi.stubEnv(name, "");
});

type Flags = JudgeFlags & { readonly judge: string };
const flagsOf = (...args: string[]): Flags =>
  addJudgeOptions(new Command().exitOverride().configureOutput({ writeErr: () => {} }))
    .parse(args, { from: "user" })
    .opts();
const open = (...args: string[]) => openJudgeHere(flagsOf("--no-cache", ...args), () => {});
const file = (name: string, content: string | Uint8Array) => {
  writeFileSync(path.join(room, name), content);
  return path.join(room, name);
};

const GROUP: GroupToJudge = {
  id: "one",
  tools: [],
  attempts: ["The order is on its way.", "No."].map((content) => [
    { role: "user", content: "Where is my order?" },
    { role: "assistant", content },
  ]),
};

describe("what is given wrongly is a sentence", () => {
  test.each<[name: string, args: string[], message: RegExp, hint: RegExp]>([
    ["no key", ["--judge", "openai:m"], /neither JUDGE_API_KEY nor OPENAI/, /embedded needs none/],
    ["no model", ["--judge", "openai: "], /no model name/, /openai:MODEL/],
    ["another kind", ["--judge", "gpt"], /unknown kind of judge: gpt/, /openai:MODEL, embedded/],
    ["an unknown fault", ["--judge", "embedded:envy"], /no fault envy/, /position/],
    [
      "an empty rubric",
      ["--judge", "embedded", "--rubric", file("empty.md", " \n")],
      ...([/empty\.md has no rubric in it/, /Write down/] as const),
    ],
    [
      "a rubric that is no text",
      ["--judge", "embedded", "--rubric", file("latin.md", new Uint8Array([0xe9, 0x20]))],
      ...([/latin\.md: not valid UTF-8/, /UTF-8/] as const),
    ],
    [
      "a rubric that is not there",
      ["--judge", "embedded", "--rubric", path.join(room, "none.md")],
      ...([/none\.md/, /Check the path/] as const),
    ],
  ])("%s", async (_, args, message, hint) => {
    await expect(open(...args)).rejects.toMatchObject({
      name: "LockedRoomError",
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });

  test.each([
    ["--judge-price", "3"],
    ["--judge-price", "1,2,3"],
    ["--judge-price", "a,b"],
    ["--judge-dropped-limit", "2"],
    ["--judge-timeout", "0"],
    ["--judge-concurrency", "0"],
  ])("%s %s", (...args) => expect(() => flagsOf(...args)).toThrow(/It must be/));
});

describe("keys come from the environment", () => {
  test("those of the judge win, and are in no identity", async () => {
    vi.stubEnv("OPENAI_API_KEY", "key-of-the-policy");
    vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    const shared = await open("--judge", "openai:m");
    expect(shared.identity.endpoint).toBe("http://127.0.0.1:9/v1");
    vi.stubEnv("JUDGE_API_KEY", "key-of-the-judge");
    vi.stubEnv("JUDGE_BASE_URL", "http://127.0.0.1:10/v1/");
    const own = await open("--judge", "openai:m");
    expect(own.identity.endpoint).toBe("http://127.0.0.1:10/v1");
    expect(canonicalJson(own.identity)).not.toContain("key-of");
  });

  test("the policy's key is not sent to the judge's own endpoint", async () => {
    vi.stubEnv("OPENAI_API_KEY", "key-of-the-policy");
    vi.stubEnv("JUDGE_BASE_URL", "http://127.0.0.1:10/v1");
    await expect(open("--judge", "openai:m")).rejects.toThrow(/JUDGE_API_KEY is not/);
  });

  test("a message about them names the variable that was used", async () => {
    vi.stubEnv("JUDGE_API_KEY", "a key with spaces");
    vi.stubEnv("JUDGE_BASE_URL", "http://127.0.0.1:10/v1");
    const error = await open("--judge", "openai:m").catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ message: "JUDGE_API_KEY contains an invalid character" });
    vi.stubEnv("JUDGE_API_KEY", "none");
    vi.stubEnv("JUDGE_BASE_URL", "http://u:secret@127.0.0.1:10/v1");
    await expect(open("--judge", "openai:m")).rejects.toThrow(/JUDGE_BASE_URL must not contain/);
  });
});

describe("the embedded judge", () => {
  const verdictsOf = async (...args: string[]) => {
    const judge = await openJudgeHere(flagsOf("--judge", ...args), () => {});
    try {
      const verdicts = [];
      for await (const verdict of judge.judge([GROUP])) verdicts.push(verdict);
      return { verdicts, identity: judge.identity, traffic: judge.traffic };
    } finally {
      await judge.close();
    }
  };

  test("is asked over HTTP without a key; its identity has faults and no port", async () => {
    const { verdicts, identity, traffic } = await verdictsOf("embedded", "--no-cache");
    expect(verdicts).toMatchObject([{ id: "one", judgements: [{}, {}], identical: false }]);
    expect(traffic).toEqual({ requests: 1, from_cache: 0 });
    expect(identity).toMatchObject({ name: "embedded-judge", endpoint: "embedded" });
    expect(canonicalJson(identity)).not.toContain("127.0.0.1");
    const again = await verdictsOf("embedded", "--no-cache");
    expect(again.identity).toEqual(identity);
    const faulty = await verdictsOf("embedded:position,chatter-once", "--no-cache");
    expect(faulty.identity.name).toBe("embedded-judge:chatter-once,position");
    expect(faulty.traffic.requests).toBe(2);
  });

  test("answers from the cache the second time, with the same bytes", async () => {
    const cache = path.join(room, "cache");
    const first = await verdictsOf("embedded", "--judge-cache", cache);
    const second = await verdictsOf("embedded", "--judge-cache", cache);
    expect(first.traffic).toEqual({ requests: 1, from_cache: 0 });
    expect(second.traffic).toEqual({ requests: 0, from_cache: 1 });
    expect(canonicalJson(second.verdicts)).toBe(canonicalJson(first.verdicts));
    expect(readFileSync(path.join(cache, ".gitignore"), "utf8")).toBe("*\n");
    const third = await verdictsOf("embedded:position", "--judge-cache", cache);
    expect(third.traffic.requests).toBe(1);
    const uncached = await verdictsOf("embedded", "--judge-cache", cache, "--no-cache");
    expect(uncached.traffic).toEqual({ requests: 1, from_cache: 0 });
    expect(readdirSync(cache).filter((name) => name.length === 2)).toHaveLength(2);
  });

  test("a cache folder that is a file is refused before anything is asked", async () => {
    const taken = file("taken", "");
    await expect(verdictsOf("embedded", "--judge-cache", taken)).rejects.toThrow(/taken/);
  });
});

test("the embedded judge of a run is asked again, whatever its cache holds", async () => {
  const cache = path.join(room, "kept");
  for (const expected of [
    { requests: 1, from_cache: 0 },
    { requests: 0, from_cache: 1 },
  ]) {
    const judge = await openJudgeHere(flagsOf("--judge", "embedded", "--judge-cache", cache));
    for await (const _ of judge.judge([GROUP]));
    expect(judge.traffic).toEqual(expected);
    await judge.close();
    const again = await openRecordedJudge(judge.identity, cache);
    for await (const _ of again.judge([GROUP]));
    expect(again.identity).toEqual(judge.identity);
    expect(again.traffic).toEqual({ requests: 1, from_cache: 0 });
    await again.close();
  }
});
