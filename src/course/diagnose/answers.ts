/**
 * diagnoses/: the answers of a learner, a file for each case under the name of its run. The first answer
 * to a case is the one that counts, whatever the seed that it was shown under.
 */

import { lstatSync, readdirSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { parseFile, textOf, writeAtomically } from "../workspace-files.ts";
import { caseNamed, type DiagnoseCase } from "./case.ts";
import { CAUSES } from "./causes.ts";

export const DIAGNOSES = "diagnoses";

const answerSchema = z.strictObject({
  schema: z.literal("lockedroom.diagnose-answer@1"),
  /** Of the run. */
  name: z.string(),
  /** Null where the run was revealed without an answer. */
  cause: z.string().nullable(),
  ablation: z.string().nullable(),
  cause_right: z.boolean(),
  ablation_right: z.boolean(),
  /** A right answer that was given after a wrong one, or after the run was revealed. */
  corrected: z.strictObject({ cause: z.string(), ablation: z.string() }).optional(),
});

export type DiagnosisAnswer = Readonly<z.infer<typeof answerSchema>>;

export interface Given {
  readonly cause: string | null;
  readonly ablation: string | null;
}

/** Both have to be right: a cause without its ablation is a guess. */
export function markDiagnosis({ cause }: DiagnoseCase, given: Given) {
  return {
    cause_right: given.cause === cause,
    ablation_right: given.ablation === CAUSES[cause].ablation,
  };
}

/** Where the answer to a case is kept. */
export const answerFile = ({ name }: Pick<DiagnoseCase, "name">) => `${DIAGNOSES}/${name}.json`;

export function readAnswers(dir: string): readonly DiagnosisAnswer[] {
  const folder = path.join(dir, DIAGNOSES);
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .flatMap((file) => readAnswer(dir, `${DIAGNOSES}/${file}`) ?? []);
}

function readAnswer(dir: string, file: string): DiagnosisAnswer | undefined {
  const content = textOf(dir, file);
  if (content === undefined) return undefined;
  const back = `Restore the committed one: git checkout -- ${file}`;
  const hints = { conflict: back, damaged: back };
  return parseFile(path.join(dir, file), content, answerSchema, hints);
}

export const answerTo = (
  answers: readonly DiagnosisAnswer[],
  { name }: Pick<DiagnoseCase, "name">,
) => answers.find((one) => one.name === name);

/**
 * Keeps an answer, unless the case has one. Of two at the same time one is kept. A later one that is right
 * is kept beside the first, as its correction.
 */
export async function keepAnswer(
  dir: string,
  one: DiagnoseCase,
  given: Given,
): Promise<"kept" | "corrected" | "answered before"> {
  const answer: DiagnosisAnswer = {
    ...{ schema: "lockedroom.diagnose-answer@1", name: one.name },
    ...{ cause: given.cause, ablation: given.ablation, ...markDiagnosis(one, given) },
  };
  const file = path.join(dir, answerFile(one));
  const textFor = (kept: DiagnosisAnswer) => `${JSON.stringify(kept, null, 2)}\n`;
  const done = await writeAtomically(file, textFor(answer), { replace: false });
  if (done === "written") return "kept";
  const before = readAnswer(dir, answerFile(one));
  const { cause, ablation } = given;
  if (!before || isSettled(one, before) || !isRight(one, given)) return "answered before";
  const corrected = { cause: String(cause), ablation: String(ablation) };
  await writeAtomically(file, textFor({ ...before, corrected }), { replace: true });
  return "corrected";
}

function isRight(one: DiagnoseCase, given: Given): boolean {
  const { cause_right: cause, ablation_right: ablation } = markDiagnosis(one, given);
  return cause && ablation;
}

/** The first answer is right, or its correction is. Marked again: the file can be edited. */
function isSettled(one: DiagnoseCase, { corrected, ...first }: DiagnosisAnswer): boolean {
  return isRight(one, first) || (corrected !== undefined && isRight(one, corrected));
}

/** Whether a file of a workspace is a diagnosis that was right, or wrong and corrected. */
export function isDiagnosed(dir: string, file: string): boolean {
  const answer = readAnswer(dir, file);
  const one = answer && caseNamed(answer.name);
  if (!answer || !one) return false;
  return answerFile(one) === file && isSettled(one, answer);
}
