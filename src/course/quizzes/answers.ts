/** How answers are computed: from metrics and logs of runs, from the gate, from the verifier. */

import { canonicalJson, type Json, type Knob, type ScoreResult } from "../../core/index.ts";
import { gate } from "../../gate/index.ts";
import type { GateReport, Manifest, Run } from "../../runs/index.ts";
import { OUTCOME_CODES, score } from "../../scorers/index.ts";
import { type CheckContext, ensure } from "../check-context.ts";
import type { AnswerForm, Chapter, QuizQuestion } from "../quiz.ts";

type Question = Omit<QuizQuestion, "chapter"> & { readonly chapter?: Chapter };

/** The questions of a level; `chapter` is for those that name none. */
export function questions(chapter: Chapter, list: readonly Question[]): readonly QuizQuestion[] {
  return list.map((one) => ({ ...one, chapter: one.chapter ?? chapter }));
}

export const four: AnswerForm = { kind: "number", decimals: 4 };
export const three: AnswerForm = { kind: "number", decimals: 3 };
export const count: AnswerForm = { kind: "count" };
export const CODE: AnswerForm = { kind: "word", what: "an outcome code", words: OUTCOME_CODES };
export const REASON: AnswerForm = { kind: "word", what: "a reason code of the gate" };

export function oneOf(words: readonly string[]): AnswerForm {
  return { kind: "word", what: `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`, words };
}

export const choice = (options: Readonly<Record<string, string>>): AnswerForm => ({
  kind: "choice",
  options,
});

type Metrics = Run["summary"]["metrics"];

/** A number of a run's summary; `again` reads it from another file of the run, which must agree. */
export async function metric(
  context: CheckContext,
  run: string,
  read: (metrics: Metrics) => unknown,
  again?: () => Promise<unknown>,
): Promise<number> {
  const value = read((await context.run(run)).summary.metrics);
  const same = again === undefined || (await again()) === value;
  ensure(typeof value === "number" && same, {
    expected: `runs/${run} as its command wrote it`,
    found: same ? "no such number in its summary" : "other files that disagree with its summary",
    where: `runs/${run}/summary.json`,
    next: `Run the command of runs/${run} again, with --force.`,
  });
  return value;
}

/** A line of a run's log, counted from 1, or from the end if negative. */
export async function logLine<T>(context: CheckContext, run: string, line: number): Promise<T> {
  await context.run(run);
  const lines = (await context.read(`runs/${run}/log.jsonl`)).trimEnd().split("\n");
  const text = lines.at(line > 0 ? line - 1 : line);
  ensure(text !== undefined && text !== "", {
    expected: `step ${line} in the log of runs/${run}`,
    found: "a shorter log",
    where: `runs/${run}/log.jsonl`,
  });
  return JSON.parse(text) as T;
}

/** The gate's report on two runs that were not edited. */
export async function compared(
  context: CheckContext,
  [before, after]: readonly [string, string],
  claim?: Knob,
): Promise<GateReport> {
  const [baseline, candidate] = [await context.run(before), await context.run(after)];
  return gate({ baseline: baseline.dir, candidate: candidate.dir, claim });
}

/** The code of the reason that passes a test. */
export function reasonCode(
  { reasons }: GateReport,
  what: string,
  wanted: (reason: GateReport["reasons"][number]) => boolean,
): string {
  const found = reasons.find(wanted);
  ensure(found !== undefined, {
    expected: `the gate to name ${what}`,
    found: reasons.map(({ code }) => code).join(", "),
    where: "the two runs that the question names",
  });
  return found.code;
}

/** The letter of the one field in which two manifests differ. */
export async function differingField(
  context: CheckContext,
  [before, after]: readonly [string, string],
  fields: Readonly<Record<string, (manifest: Manifest) => Json>>,
): Promise<string> {
  const [a, b] = [(await context.run(before)).manifest, (await context.run(after)).manifest];
  const differing = Object.entries(fields).flatMap(([letter, read]) =>
    canonicalJson(read(a)) === canonicalJson(read(b)) ? [] : [letter],
  );
  ensure(differing.length === 1, {
    expected: `runs/${before} and runs/${after} to differ in one of these fields`,
    found: `a difference in ${differing.length}`,
    where: `runs/${after}/manifest.json`,
  });
  return differing[0] as string;
}

/** The score of the strict verifier. */
export function strictScore(completion: string, expected: number): ScoreResult {
  return score({ id: "quiz", prompt: "", expected_answer: expected }, completion);
}
