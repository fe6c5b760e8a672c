import { expect, test } from "vitest";
import type { Scorer } from "../core/score.ts";
import { mathFinalLine } from "./math-final-line.ts";
import { openScorer } from "./open.ts";

/** Whole words, typed in the fields of its own examples. */
const words: Scorer<{ readonly wanted: string }> = {
  name: "words",
  version: "1",
  spec: "the wanted word",
  score: ({ wanted }, completion) => ({
    reward: completion === wanted ? 1 : 0,
    code: "compared",
    details: {},
  }),
};
const row = { example: { id: "a", prompt: "p", wanted: "yes" }, completion: "yes" };

test("a scorer object is guarded, and its identity says what it was derived from", async () => {
  const scorer = await openScorer(words);
  expect(await scorer.scoreBatch([row])).toEqual([{ reward: 1, code: "compared", details: {} }]);
  expect(scorer.identity).toMatchObject({
    ...{ name: "words", version: "1", spec: "the wanted word" },
    ...{ path: null, source: "function_text" },
    source_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test("another function, spec or codes is another source; captured values do not show", async () => {
  const source = async (scorer: Scorer) => (await openScorer(scorer)).identity.source_sha256;
  const made = (reward: number): Scorer => ({
    ...{ name: "n", version: "1", spec: "s" },
    score: () => ({ reward, code: "c", details: {} }),
  });
  expect(await source(made(0))).toBe(await source(made(1)));
  for (const change of [
    { spec: "t" },
    { codes: ["c"] },
    { score: () => ({ reward: 1, code: "d", details: {} }) },
  ]) {
    expect(await source({ ...made(0), ...change })).not.toBe(await source(made(0)));
  }
});

test("a built-in passed as an object is the built-in", async () => {
  expect((await openScorer(mathFinalLine)).identity).toEqual((await openScorer()).identity);
});

test("a declared lack of determinism is part of the identity", async () => {
  const { identity } = await openScorer({ ...words, deterministic: false });
  expect(identity.deterministic).toBe(false);
});

test.each([
  ["a bound function", { ...words, score: words.score.bind(words) }, {}, /text of its `score`/],
  ["threads", words, { jobs: 2 }, /cannot be sent to threads/],
  ["no version", { ...words, version: "" }, {}, /`version` must be/],
  ["a wrong flag", { ...words, deterministic: "no" as never }, {}, /`deterministic` must be/],
])("an object is refused with %s", async (_, scorer, options, says) => {
  await expect(openScorer(scorer, options)).rejects.toThrow(says);
});

test.each([
  ["jobs", [0, -1, 1.5, Number.NaN, "2", null]],
  ["concurrency", [0, -1, 1.5, Number.POSITIVE_INFINITY, "2"]],
  ["timeoutMs", [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 86_400_001, "2"]],
])("a wrong `%s` is a usage error that names it", async (option, values) => {
  for (const value of values) {
    const opened = openScorer(undefined, { [option]: value as number });
    await expect(opened, String(value)).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringContaining(`\`${option}\` must be`),
    });
  }
});

test.each([{ default: words }, null, 7])("no scorer object is a usage error: %j", async (given) => {
  await expect(openScorer(given as never)).rejects.toMatchObject({
    kind: "usage",
    message: expect.stringContaining("a scorer object has name, version, spec and score itself"),
  });
});
