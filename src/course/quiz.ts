/**
 * A level's checklist as questions. What has an objective answer is marked here; the answer is
 * computed when it is asked for, from the workspace's own runs or from the code that decides it.
 */

import { LockedRoomError, visibleShort } from "../core/index.ts";
import { Gap } from "./gap.ts";
import type { LevelId } from "./level.ts";
import { howToMake } from "./quizzes/runs.ts";
import type { Room } from "./room.ts";

const QUIZ_SCHEMA = "lockedroom.quiz@1";

/** Chapters of the manual that explain answers; files of docs/manual without their ending. */
export type Chapter =
  | "01-three-loops"
  | "02-objects-not-to-confuse"
  | "03-bandit-and-sequence"
  | "04-tokens-and-completions"
  | "05-log-probs-and-signs"
  | "06-baseline-and-advantage"
  | "07-selection-filtering-learning"
  | "08-frozen-rollouts"
  | "09-kl"
  | "10-reward-as-specification"
  | "11-measurement-hygiene"
  | "12-goodhart"
  | "13-debugging-by-class";

/** What an answer looks like. */
export type Form =
  /** Right when it is the number as printed with so many decimals, or more exact. */
  | { readonly kind: "number"; readonly decimals: number }
  /** A whole number, exactly. */
  | { readonly kind: "count" }
  /** A code, a verdict or a name; `words` are all there are, where they can be listed. */
  | { readonly kind: "word"; readonly what: string; readonly words?: readonly string[] }
  | { readonly kind: "choice"; readonly options: Readonly<Record<string, string>> };

export interface QuizQuestion {
  readonly id: string;
  readonly ask: string;
  readonly form: Form;
  /** Why the answer is what it is, for whoever gave another. */
  readonly why: string;
  readonly chapter: Chapter;
  /** Runs of the workspace that the answer is read from, by name. */
  readonly runs: readonly string[];
  /** The answer: a number, a word, or the letter of a choice. A Gap says why there is none. */
  solve(room: Room): Promise<string | number> | string | number;
}

/** A question that nobody but the person can mark. */
export interface OpenQuestion {
  readonly ask: string;
  readonly chapter: Chapter;
}

interface Skip {
  readonly code: "run_missing" | "run_refused" | "not_answered";
  readonly message: string;
  /** What to do about it; commands stand on lines of their own. */
  readonly next: string | null;
}

export interface Mark {
  readonly question: QuizQuestion;
  readonly given: string | null;
  /** Null where nothing was marked. */
  readonly right: boolean | null;
  /** The right answer, once one was given. */
  readonly answer: string | null;
  /** What was odd about the answer that was given. */
  readonly problem: string | null;
  readonly skipped: Skip | null;
}

type Truth = { readonly answer: string | number } | { readonly skip: Skip };

/** The answer of a question, or why it cannot be asked of this workspace. */
export async function solve(question: QuizQuestion, room: Room): Promise<Truth> {
  const missing = question.runs.find((run) => !room.has(`runs/${run}`));
  if (missing !== undefined) {
    const message = `It asks about runs/${missing}, which is not there yet.`;
    return { skip: { code: "run_missing", message, next: howToMake(missing) } };
  }
  try {
    // Opened first, so that nothing is read from a run that somebody edited or copied.
    await Promise.all(question.runs.map((run) => room.run(run)));
    return { answer: await question.solve(room) };
  } catch (error) {
    return { skip: refusal(error) };
  }
}

function refusal(error: unknown): Skip {
  if (error instanceof Gap) {
    const { expected, found, look, next } = error.lack;
    const message = `Not marked: expected ${expected}; found ${found}. Look at ${look}.`;
    return { code: "run_refused", message, next: next ?? null };
  }
  if (!(error instanceof LockedRoomError)) throw error;
  return {
    code: "run_refused",
    message: `Not marked: ${error.message}.`,
    next: error.hint ?? null,
  };
}

const NOT_ANSWERED: Skip = { code: "not_answered", message: "Not answered.", next: null };

/** Marks one answer; a blank one, or `-`, skips the question. */
export function mark(question: QuizQuestion, truth: Truth, line: string | undefined): Mark {
  const given = line === undefined || tidy(line) === "" ? null : line.trim();
  const unmarked = { question, given, right: null, answer: null, problem: null };
  if ("skip" in truth) return { ...unmarked, skipped: truth.skip };
  if (given === null || tidy(given) === "-") return { ...unmarked, skipped: NOT_ANSWERED };
  const { form } = question;
  const read = readAnswer(form, given);
  return {
    question,
    given,
    right: "value" in read && agrees(form, read.value, truth.answer),
    answer: showAnswer(form, truth.answer),
    problem: "problem" in read ? read.problem : null,
    skipped: null,
  };
}

interface QuizScore {
  readonly questions: number;
  readonly right: number;
  readonly wrong: number;
  readonly skipped: number;
}

export function scoreOf(marks: readonly Mark[]): QuizScore {
  const right = marks.filter((one) => one.right === true).length;
  const wrong = marks.filter((one) => one.right === false).length;
  return { questions: marks.length, right, wrong, skipped: marks.length - right - wrong };
}

/** What `quiz --format json` prints. */
export function quizReport(
  level: LevelId,
  marks: readonly Mark[],
  aloud: readonly OpenQuestion[],
): object {
  return {
    schema: QUIZ_SCHEMA,
    level,
    score: scoreOf(marks),
    questions: marks.map(({ question: { id, ask, form, chapter }, given, ...rest }) => ({
      id,
      asked: ask,
      form: formHint(form),
      options: form.kind === "choice" ? form.options : null,
      given: given && visibleShort(given, MOST_SHOWN),
      ...rest,
      chapter: `docs/manual/${chapter}.md`,
    })),
    say_aloud: aloud.map(({ ask, chapter }) => ({ ask, chapter: `docs/manual/${chapter}.md` })),
  };
}

const MOST_SHOWN = 200;
/** No answer of ours is nearly as long. */
const MOST_CHARACTERS = 200;

type Read = { readonly value: string | number } | { readonly problem: string };

/** What was typed, without what cannot matter: blanks and quotes around it, the kind of minus. */
function tidy(text: string): string {
  return text
    .trim()
    .replace(/^(["'`])(.*)\1$/s, "$2")
    .replace(/[\u2010-\u2015\u2212\uFE63\uFF0D]/g, "-")
    .trim();
}

function readAnswer(form: Form, given: string): Read {
  if (given.length > MOST_CHARACTERS)
    return { problem: `${given.length} characters are no answer to this.` };
  const text = tidy(given);
  if (form.kind === "word") return readWord(form, text);
  return form.kind === "choice" ? readChoice(form.options, text) : readNumber(form, text);
}

function readNumber(form: Form & { kind: "number" | "count" }, text: string): Read {
  const shown = `“${visibleShort(text, 40)}”`;
  if (/^[+-]?\d+,\d+$/.test(text)) return { problem: `${shown}: write a point, not a comma.` };
  if (/%$/.test(text)) return { problem: `${shown}: write a share, such as 0.5, not per cent.` };
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(text))
    return { problem: `${shown} is not a number.` };
  const value = Number(text);
  if (form.kind === "count" && !Number.isInteger(value))
    return { problem: `${shown} is not a whole number.` };
  return { value };
}

/** Codes are typed in many ways: "claim mismatch" and "Claim-Mismatch" are claim_mismatch. */
const plain = (word: string) => word.toLowerCase().replace(/[\s_-]+/g, "_");

function readWord({ what, words }: Form & { kind: "word" }, text: string): Read {
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

/** A hair more than half of the last decimal, for numbers that end in a 5 there. */
const HALF = 0.5 * 1.01;

function agrees(form: Form, value: string | number, answer: string | number): boolean {
  if (form.kind === "number")
    return Math.abs(Number(value) - Number(answer)) <= HALF * 10 ** -form.decimals;
  return form.kind === "count" ? value === answer : value === plain(String(answer));
}

/** The right answer as a person would write it. */
export function showAnswer(form: Form, answer: string | number): string {
  if (form.kind === "number")
    return Number(answer)
      .toFixed(form.decimals)
      .replace(/^-(0\.?0*)$/, "$1");
  return form.kind === "choice" ? `${answer}) ${form.options[answer]}` : String(answer);
}

/** What kind of answer is wanted, behind the question. */
export function formHint(form: Form): string {
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
