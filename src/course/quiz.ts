/**
 * A level's checklist as questions. Questions with an objective answer are marked; the answer is
 * computed from the workspace's runs or from the library.
 */

import { LockedRoomError, visibleShort } from "../core/index.ts";
import { type CheckContext, CheckFailure } from "./check-context.ts";
import type { LevelId } from "./level.ts";
import { howToMake } from "./run-commands.ts";

const QUIZ_SCHEMA = "lockedroom.quiz@1";

/** A chapter of the manual that explains an answer: a file of docs/manual without its ending. */
export type Chapter = `${number}${number}-${string}`;

/** What an answer looks like. */
export type AnswerForm =
  /** Correct if it agrees to this many decimals. */
  | { readonly kind: "number"; readonly decimals: number }
  /** A whole number, exactly. */
  | { readonly kind: "count" }
  /** A code, a verdict or a name; `words` lists all of them, where possible. */
  | { readonly kind: "word"; readonly what: string; readonly words?: readonly string[] }
  | { readonly kind: "choice"; readonly options: Readonly<Record<string, string>> };

export interface QuizQuestion {
  readonly id: string;
  readonly ask: string;
  readonly form: AnswerForm;
  /** The explanation for a wrong answer. */
  readonly why: string;
  readonly chapter: Chapter;
  /** The runs of the workspace that the answer needs, by name. */
  readonly runs?: readonly string[];
  /** The answer: a number, a word, or the letter of a choice. Throws a CheckFailure if there is none. */
  solve(context: CheckContext): Promise<string | number> | string | number;
}

/** A question that only the learner can answer. */
export interface OpenQuestion {
  readonly ask: string;
  readonly chapter: Chapter;
}

interface Skip {
  readonly code: "run_missing" | "run_invalid" | "not_answered";
  readonly message: string;
  /** What to do; commands are on lines of their own. */
  readonly next: string | null;
}

export interface Mark {
  readonly question: QuizQuestion;
  readonly given: string | null;
  /** Null where the question was skipped. */
  readonly right: boolean | null;
  /** The right answer, once one was given. */
  readonly answer: string | null;
  /** What is wrong with the form of the answer. */
  readonly problem: string | null;
  readonly skipped: Skip | null;
}

type Solution = { readonly answer: string | number } | { readonly skip: Skip };

/** The answer of a question, or why this workspace has none. */
export async function solve(question: QuizQuestion, context: CheckContext): Promise<Solution> {
  const runs = question.runs ?? [];
  const missing = runs.find((run) => !context.has(`runs/${run}`));
  if (missing !== undefined) {
    const message = `It needs runs/${missing}, which does not exist yet.`;
    return { skip: { code: "run_missing", message, next: howToMake(missing) } };
  }
  try {
    // Opened first, so that nothing is read from an edited or copied run.
    await Promise.all(runs.map((run) => context.run(run)));
    return { answer: await question.solve(context) };
  } catch (error) {
    return { skip: skipReason(error) };
  }
}

function skipReason(error: unknown): Skip {
  if (error instanceof CheckFailure) {
    const { expected, found, where, next } = error.failure;
    const message = `Not marked: expected ${expected}; found ${found}. See ${where}.`;
    return { code: "run_invalid", message, next: next ?? null };
  }
  if (!(error instanceof LockedRoomError)) throw error;
  return {
    code: "run_invalid",
    message: `Not marked: ${error.message}.`,
    next: error.hint ?? null,
  };
}

const NOT_ANSWERED: Skip = { code: "not_answered", message: "Not answered.", next: null };

/** Marks one answer; an empty one, or `-`, skips the question. */
export function mark(question: QuizQuestion, solution: Solution, line: string | undefined): Mark {
  const given = line === undefined || tidy(line) === "" ? null : line.trim();
  const unmarked = { question, given, right: null, answer: null, problem: null };
  if ("skip" in solution) return { ...unmarked, skipped: solution.skip };
  if (given === null || tidy(given) === "-") return { ...unmarked, skipped: NOT_ANSWERED };
  const { form } = question;
  const read = readAnswer(form, given);
  return {
    question,
    given,
    right: "value" in read && agrees(form, read.value, solution.answer),
    answer: showAnswer(form, solution.answer),
    problem: "problem" in read ? read.problem : null,
    skipped: null,
  };
}

export function scoreOf(marks: readonly Mark[]) {
  const right = marks.filter((one) => one.right === true).length;
  const wrong = marks.filter((one) => one.right === false).length;
  return { questions: marks.length, right, wrong, skipped: marks.length - right - wrong };
}

/** What `quiz --format json` prints. */
export function quizReport(level: LevelId, marks: readonly Mark[], open: readonly OpenQuestion[]) {
  return {
    schema: QUIZ_SCHEMA,
    level,
    score: scoreOf(marks),
    questions: marks.map(({ question: { id, ask, form, chapter }, given, ...rest }) => ({
      id,
      asked: ask,
      form: formHint(form),
      options: form.kind === "choice" ? form.options : null,
      given: given && visibleShort(given, MAX_CHARACTERS),
      ...rest,
      chapter: `docs/manual/${chapter}.md`,
    })),
    open_questions: open.map(({ ask, chapter }) => ({ ask, chapter: `docs/manual/${chapter}.md` })),
  };
}

const MAX_CHARACTERS = 200;

type Read = { readonly value: string | number } | { readonly problem: string };

/** The typed text without surrounding white space and quotes, with a plain minus. */
function tidy(text: string): string {
  return text
    .trim()
    .replace(/^(["'`])(.*)\1$/s, "$2")
    .replace(/[\u2010-\u2015\u2212\uFE63\uFF0D]/g, "-")
    .trim();
}

function readAnswer(form: AnswerForm, given: string): Read {
  if (given.length > MAX_CHARACTERS)
    return {
      problem: `An answer has at most ${MAX_CHARACTERS} characters; this has ${given.length}.`,
    };
  const text = tidy(given);
  if (form.kind === "word") return readWord(form, text);
  return form.kind === "choice" ? readChoice(form.options, text) : readNumber(form, text);
}

function readNumber(form: AnswerForm & { kind: "number" | "count" }, text: string): Read {
  const shown = `“${visibleShort(text, 40)}”`;
  if (/^[+-]?\d+,\d+$/.test(text)) return { problem: `${shown}: write a point, not a comma.` };
  if (/%$/.test(text)) return { problem: `${shown}: write a fraction, such as 0.5, not per cent.` };
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(text))
    return { problem: `${shown} is not a number.` };
  const value = Number(text);
  if (form.kind === "count" && !Number.isInteger(value))
    return { problem: `${shown} is not a whole number.` };
  return { value };
}

/** "claim mismatch" and "Claim-Mismatch" count as claim_mismatch. */
const plain = (word: string) => word.toLowerCase().replace(/[\s_-]+/g, "_");

function readWord({ what, words }: AnswerForm & { kind: "word" }, text: string): Read {
  const word = plain(text);
  const known = words ? words.map(plain).includes(word) : /^[a-z][a-z0-9_]*$/.test(word);
  return known ? { value: word } : { problem: `“${visibleShort(text, 40)}” is not ${what}.` };
}

function readChoice(options: Readonly<Record<string, string>>, text: string): Read {
  const letter = /^\(?([a-z])[).:]?$/i.exec(text)?.[1]?.toLowerCase();
  if (letter !== undefined && Object.hasOwn(options, letter)) return { value: letter };
  const spelled = Object.entries(options).find(([, words]) => plain(words) === plain(text));
  if (spelled) return { value: spelled[0] };
  return { problem: `“${visibleShort(text, 40)}” is not one of ${oneOf(Object.keys(options))}.` };
}

/** Slightly more than half of the last decimal, for numbers that end in a 5 there. */
const HALF = 0.5 * 1.01;

function agrees(form: AnswerForm, value: string | number, answer: string | number): boolean {
  if (form.kind === "number")
    return Math.abs(Number(value) - Number(answer)) <= HALF * 10 ** -form.decimals;
  return form.kind === "count" ? value === answer : value === plain(String(answer));
}

/** The correct answer as text. */
export function showAnswer(form: AnswerForm, answer: string | number): string {
  if (form.kind === "number")
    return Number(answer)
      .toFixed(form.decimals)
      .replace(/^-(0\.?0*)$/, "$1");
  return form.kind === "choice" ? `${answer}) ${form.options[answer]}` : String(answer);
}

/** The kind of answer, shown after the question. */
export function formHint(form: AnswerForm): string {
  switch (form.kind) {
    case "number":
      return `a number, ${form.decimals} decimals`;
    case "count":
      return "a whole number";
    case "word":
      return form.what;
    case "choice":
      return oneOf(Object.keys(form.options));
  }
}

function oneOf(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
