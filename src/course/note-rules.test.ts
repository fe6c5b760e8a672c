/** The notes of levels 1, 3, 4 and 5 need words that belong to their subject. */

import { expect, test } from "vitest";
import { EXPLAINED } from "../../tests/track/explained.ts";
import { KL_NOTE, RED_TEAM_NOTE, REINFORCE_NOTE, SPEC_NOTE } from "./note-rules.ts";
import { textProblem, wordCount } from "./notes.ts";

const rules = [REINFORCE_NOTE, KL_NOTE, SPEC_NOTE, RED_TEAM_NOTE].flatMap((note) =>
  Object.entries(note).flatMap(([heading, rule]) =>
    typeof rule === "number" ? [] : [{ heading, ...rule }],
  ),
);

/** Long enough and well formed, about nothing in particular. */
const ELSEWHERE =
  "What happened surprised me at first, and afterwards I understood that someone had looked at this before and left no trace of it. Since then I write down in advance what ought to come out, ask a colleague to do the same, compare both pages in the evening, and only then begin to think about causes.";

test("seven sections ask for words of their subject", () => {
  expect(rules).toHaveLength(7);
});

test.each(rules)("$heading: an explanation is accepted, a text about nothing is not", (rule) => {
  const { heading, words, keys = [] } = rule;
  const explained = EXPLAINED[heading] ?? "";
  expect(wordCount(explained)).toBeGreaterThanOrEqual(words);
  expect(textProblem(explained, words, keys, new Map())).toBeUndefined();
  expect(wordCount(ELSEWHERE)).toBeGreaterThanOrEqual(words);
  expect(textProblem(ELSEWHERE, words, keys, new Map())).toContain("words that it needs");
});

test("a text with one of the needed words is told that it has one, and asked for a second", () => {
  const keys = ["distribution", "probability", "token", "model", "sample"];
  const one =
    "The distribution over completions given a prompt; it writes answers and is none itself.";
  expect(textProblem(one, 10, keys, new Map())).toBe(
    "a text without 2 of the words that it needs, such as probability, token, model, sample; it has distribution",
  );
  expect(textProblem(`${one} Each token has one.`, 10, keys, new Map())).toBeUndefined();
});
