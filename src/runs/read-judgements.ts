/** judgements.jsonl: a judge's answers about the groups of a run, and the scores in them. */

import path from "node:path";
import type { Judgement } from "../core/judge.ts";
import { readVerdict } from "../core/verdict.ts";
import { JUDGEMENTS } from "./artifacts.ts";
import { JsonlFile } from "./jsonl.ts";
import { type GroupJudgement, groupJudgementSchema } from "./judge-schemas.ts";
import { parseWith } from "./whole-file.ts";

export function readJudgements(dir: string): JsonlFile<GroupJudgement> {
  const parse = (fields: unknown) => parseWith(groupJudgementSchema, fields);
  return new JsonlFile(path.join(dir, JUDGEMENTS), parse, { regular: true });
}

/** One for each attempt, read from the answer; undefined where it gives none. */
export function judgementsOf({
  attempts,
  answer,
  identical,
}: GroupJudgement): readonly Judgement[] | undefined {
  if (answer === undefined) return undefined;
  const asked = identical ? attempts.slice(0, 1) : attempts;
  const read = readVerdict(
    answer,
    asked.map((_, i) => String(i + 1)),
  );
  if ("problem" in read) return undefined;
  return attempts.map((_, i) => read.judgements[identical ? 0 : i] as Judgement);
}
