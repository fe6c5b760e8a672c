/** Reads a judge's answer: every id exactly once, with a score from 0 to 1. Nothing is guessed. */

import type { Judgement } from "./judge.ts";
import { isFields } from "./records.ts";
import { repeatedKey } from "./repeated-key.ts";
import { visibleShort } from "./visible.ts";

export type Verdict =
  | { readonly judgements: readonly Judgement[] }
  /** Why the answer cannot be used, in words that the judge is told as well. */
  | { readonly problem: string };

/** The judgements in the order of `ids`. */
export function readVerdict(answer: string, ids: readonly string[]): Verdict {
  const scores = scoresIn(answer);
  if (typeof scores === "string") return { problem: scores };
  const found = new Map<string, Judgement>();
  for (const entry of scores) {
    if (!isFields(entry)) return { problem: "an entry of `scores` is not an object" };
    const { trajectory_id: id, score, explanation = "" } = entry;
    if (typeof id !== "string" || !ids.includes(id))
      return { problem: `there is no attempt with the id ${shown(id)}` };
    if (found.has(id)) return { problem: `the id ${id} has two scores` };
    if (typeof score !== "number" || !(score >= 0 && score <= 1))
      return { problem: `the score of ${id} is ${shown(score)}, not a number from 0 to 1` };
    if (typeof explanation !== "string")
      return { problem: `the explanation of ${id} is not a text` };
    found.set(id, { score, explanation });
  }
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length > 0) return { problem: `no score for ${missing.join(", ")}` };
  return { judgements: ids.map((id) => found.get(id) as Judgement) };
}

/** The list of scores, or what is wrong. A fenced block may stand around the JSON, other text not. */
function scoresIn(answer: string): readonly unknown[] | string {
  const text = answer.trim().replace(/^```(?:json)?\s*\n([\s\S]*?)\n\s*```$/, "$1");
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return "the answer is not JSON alone";
  }
  const repeated = repeatedKey(text);
  if (repeated !== undefined) return `the key ${shown(repeated)} is twice in one object`;
  const scores = isFields(parsed) ? parsed.scores : undefined;
  return Array.isArray(scores) ? scores : "the answer has no list `scores`";
}

function shown(value: unknown): string {
  return visibleShort(JSON.stringify(value) ?? "missing", 60);
}
