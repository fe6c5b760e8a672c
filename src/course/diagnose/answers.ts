/**
 * diagnoses/: the answers of a learner, a file for each case under the name of its run. The first answer
 * to a case is the one that counts, whatever the seed that it was shown under.
 */

import { lstatSync, readdirSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { parseFile, textOf, writeAtomically } from "../workspace-files.ts";
import type { DiagnoseCase } from "./case.ts";
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

/** Keeps an answer, unless the case has one. Of two at the same time one is kept. */
export async function keepAnswer(
  dir: string,
  one: DiagnoseCase,
  given: Given,
): Promise<"kept" | "answered before"> {
  const answer: DiagnosisAnswer = {
    ...{ schema: "lockedroom.diagnose-answer@1", name: one.name },
    ...{ cause: given.cause, ablation: given.ablation, ...markDiagnosis(one, given) },
  };
  const file = path.join(dir, answerFile(one));
  const text = `${JSON.stringify(answer, null, 2)}\n`;
  const done = await writeAtomically(file, text, { replace: false });
  return done === "written" ? "kept" : "answered before";
}
