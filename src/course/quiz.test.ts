/** How answers are read and marked, without a workspace. */

import { existsSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { levelOf } from "./check.ts";
import { LEVEL_IDS } from "./level.ts";
import { type AnswerForm, formHint, mark, type QuizQuestion, scoreOf, showAnswer } from "./quiz.ts";
import { OPEN_QUESTIONS, QUESTIONS } from "./quizzes/index.ts";
import { howToMake } from "./run-commands.ts";

const four: AnswerForm = { kind: "number", decimals: 4 };
const count: AnswerForm = { kind: "count" };
const verdict: AnswerForm = { kind: "word", what: "a verdict", words: ["PROMOTE", "REJECT"] };
const code: AnswerForm = { kind: "word", what: "a code" };
const choice: AnswerForm = { kind: "choice", options: { a: "one token", b: "the whole text" } };

/** The commands that write runs. */
const MAKERS = "eval selection-demo bandit-train run kl-tradeoff-demo goodhart-demo".split(" ");

function question(form: AnswerForm): QuizQuestion {
  const ask = { id: "q", ask: "?", why: "so", chapter: "09-kl" as const, runs: [] };
  return { ...ask, form, solve: () => 0 };
}

function marked(form: AnswerForm, answer: string | number, given: string | undefined) {
  return mark(question(form), { answer }, given);
}

describe("what means the same is the same", () => {
  test.each<[AnswerForm, string | number, string]>([
    [four, 143 / 240, "0.5958"],
    [four, 143 / 240, " .5958\t"],
    [four, 143 / 240, "+0.59583"],
    [four, 143 / 240, "5.958e-1"],
    [four, 0.00125, "0.0013"],
    [four, 0.00125, "0.0012"],
    [four, -0.8, "-0.8"],
    [four, -0.8, "−0.8000"],
    [four, -0.8, "–.8"],
    [four, 0, "-0"],
    [count, 56, "56"],
    [count, 56, "56.0"],
    [count, 0, "0"],
    [verdict, "REJECT", "reject"],
    [verdict, "REJECT", "`Reject`"],
    [code, "claim_mismatch", "Claim-Mismatch"],
    [code, "claim_mismatch", "“claim mismatch”".slice(1, -1)],
    [choice, "b", "B"],
    [choice, "b", "(b)"],
    [choice, "b", "b)"],
    [choice, "b", "The whole text"],
  ])("%j: %s is %j", (form, answer, given) => {
    expect(marked(form, answer, given)).toMatchObject({ right: true, problem: null });
  });
});

describe("what is wrong is wrong", () => {
  test.each<[AnswerForm, string | number, string]>([
    [four, 143 / 240, "0.5959"],
    [four, 143 / 240, "0.59"],
    [four, 143 / 240, "0.59576"],
    [four, -0.8, "0.8"],
    [count, 56, "57"],
    [count, 0, "1"],
    [verdict, "REJECT", "PROMOTE"],
    [code, "claim_mismatch", "claim_mismatches"],
    [choice, "b", "a"],
  ])("%j: %s is not %j", (form, answer, given) => {
    expect(marked(form, answer, given)).toMatchObject({ right: false, problem: null });
  });
});

describe("what is no answer is wrong, with a sentence", () => {
  test.each<[AnswerForm, string, RegExp]>([
    [four, "many", /“many” is not a number/],
    [four, "0,5958", /a point, not a comma/],
    [four, "59.58 %", /not per cent/],
    [four, "Infinity", /not a number/],
    [four, "0x1", /not a number/],
    [four, "1e9999", /not a number/],
    [count, "56.5", /not a whole number/],
    [verdict, "maybe", /“maybe” is not a verdict/],
    [code, "123", /is not a code/],
    [choice, "c", /is not one of a or b/],
    [choice, "__proto__", /is not one of a or b/],
    [four, "9".repeat(10_000), /this has 10000/],
    [four, "\u001b[31m0.5958", /⟨U\+001B⟩/],
  ])("%j: %j", (form, given, says) => {
    const { right, problem } = marked(form, form.kind === "choice" ? "b" : 0.5958, given);
    expect(right).toBe(false);
    expect(problem).toMatch(says);
  });
});

test.each(["-", "−", "", "  ", undefined])("%j skips", (given) => {
  const one = marked(four, 1, given);
  expect(one).toMatchObject({ right: null, answer: null, skipped: { code: "not_answered" } });
  expect(scoreOf([one])).toEqual({ questions: 1, right: 0, wrong: 0, skipped: 1 });
});

test("the answer that is shown would be right, and any text gets a mark", () => {
  const forms = [four, count, verdict, code, choice];
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom(...forms), (text, form) => {
      const { right, skipped } = marked(form, form.kind === "choice" ? "b" : "reject", text);
      expect(skipped === null ? typeof right : right).toBe(skipped === null ? "boolean" : null);
    }),
  );
  fc.assert(
    fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), (value) => {
      expect(marked(four, value, showAnswer(four, value)).right).toBe(true);
    }),
  );
});

describe.each(LEVEL_IDS)("level %s", (level) => {
  const questions = QUESTIONS[level];

  test("five to seven questions, each with a name of its own, and open ones besides", () => {
    expect(questions.length).toBeGreaterThanOrEqual(5);
    expect(questions.length).toBeLessThanOrEqual(7);
    expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length);
    expect(OPEN_QUESTIONS[level].map(({ ask }) => ask)).toEqual(levelOf(level).checklist);
  });

  test("every chapter is in the manual", () => {
    for (const { chapter } of [...questions, ...OPEN_QUESTIONS[level]]) {
      const file = new URL(`../../docs/manual/${chapter}.md`, import.meta.url);
      expect(existsSync(file), chapter).toBe(true);
    }
  });

  test("every run that is asked about has a command that makes it", () => {
    for (const run of questions.flatMap(({ runs }) => runs ?? [])) {
      const text = howToMake(run);
      const [, name = ""] = /^\.\/lockedroom ([a-z-]+) /m.exec(text) ?? [];
      expect(text).toMatch(new RegExp(`--outdir runs/${run}$`));
      expect(MAKERS).toContain(name);
      for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(75);
    }
  });

  test("what kind of answer is wanted fits on a line", () => {
    for (const { form } of questions) expect(formHint(form).length).toBeLessThan(70);
  });
});
