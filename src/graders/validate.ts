/** Checks a grader as far as it can be checked without running it: templates and the formula too. */

import { templateField } from "./fields.ts";
import type { LabelModel, ScoreModel, SingleGrader } from "./grader-schema.ts";
import { areExact } from "./kinds.ts";
import { openMulti } from "./multi.ts";
import { openGrader } from "./open-grader.ts";
import type { OpenedGrader } from "./opened.ts";
import type { GraderFile, GraderSettings } from "./settings.ts";

/** Throws a sentence about the first mistake. Nothing is started and nobody is asked. */
export async function validateGrader(
  { grader, settings }: GraderFile,
  where: string,
): Promise<void> {
  if (grader.type === "multi") await openMulti(grader, { settings, where }, checkedPart);
  else await checkedPart(grader, { settings, where });
}

type Context = { readonly settings: GraderSettings; readonly where: string };

/** What is not opened stands for a grader of any kind. */
const UNOPENED: OpenedGrader = {
  ...{ exact: false, deterministic: false, codes: [], range: undefined, itemFields: undefined },
  ...{ spec: "", grade: () => ({ reward: 0, code: "" }) },
};

async function checkedPart(grader: SingleGrader, context: Context): Promise<OpenedGrader> {
  if (areExact([grader.type])) return openGrader(grader, context.settings, context.where);
  if (grader.type === "score_model" || grader.type === "label_model")
    checkMessages(grader, context);
  return UNOPENED;
}

function checkMessages({ input }: ScoreModel | LabelModel, context: Context): void {
  input.forEach(({ content }, i) => {
    const parts =
      typeof content === "string" ? [content] : [content].flat().map(({ text }) => text);
    for (const text of parts) templateField(text, `input.${i}.content`, context);
  });
}
