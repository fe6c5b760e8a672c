/** diagnoses.json: the answers of a learner. The first answer to a case is the one that counts. */

import path from "node:path";
import { z } from "zod";
import { parseFile, textOf, writeAtomically } from "../workspace-files.ts";
import type { DiagnoseCase } from "./case.ts";
import { CAUSES } from "./causes.ts";

export const DIAGNOSES = "diagnoses.json";

const answerSchema = z.strictObject({
  seed: z.int().min(0),
  case: z.int().min(1),
  /** Null where the run was revealed without an answer. */
  cause: z.string().nullable(),
  ablation: z.string().nullable(),
  cause_right: z.boolean(),
  ablation_right: z.boolean(),
});
const recordSchema = z.strictObject({
  schema: z.literal("lockedroom.diagnose-answers@1"),
  answers: z.array(answerSchema),
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

export function readAnswers(dir: string): readonly DiagnosisAnswer[] {
  const content = textOf(dir, DIAGNOSES);
  if (content === undefined) return [];
  const back = `Restore the committed one: git checkout -- ${DIAGNOSES}`;
  const hints = { conflict: back, damaged: back };
  return parseFile(path.join(dir, DIAGNOSES), content, recordSchema, hints).answers;
}

export const answerTo = (answers: readonly DiagnosisAnswer[], number: number, seed: number) =>
  answers.find((one) => one.case === number && one.seed === seed);

/** Keeps an answer, unless the case has one. */
export async function keepAnswer(
  dir: string,
  answer: DiagnosisAnswer,
): Promise<"kept" | "answered before"> {
  const answers = readAnswers(dir);
  if (answerTo(answers, answer.case, answer.seed)) return "answered before";
  const record = { schema: "lockedroom.diagnose-answers@1", answers: [...answers, answer] };
  const text = `${JSON.stringify(record, null, 2)}\n`;
  await writeAtomically(path.join(dir, DIAGNOSES), text, { replace: true });
  return "kept";
}
