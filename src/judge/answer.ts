/** What became of a judge's answer: a verdict, or why there is none. */

import type { DroppedGroup, Judgement } from "../core/judge.ts";
import { readVerdict } from "../core/verdict.ts";
import { visibleShort } from "../core/visible.ts";
import type { JudgeAnswer } from "../runs/judge-cache.ts";

export type ReadAnswer =
  | { readonly judgements: readonly Judgement[] }
  | { readonly type: DroppedGroup["dropped"]["type"]; readonly problem: string };

/** The form of an answer, for endpoints that hold a model to it. */
export const ANSWER_SCHEMA = {
  name: "scores",
  schema: closed({
    scores: {
      type: "array",
      items: closed({
        trajectory_id: { type: "string" },
        explanation: { type: "string" },
        score: { type: "number" },
      }),
    },
  }),
};

function closed(properties: Record<string, object>): object {
  const required = Object.keys(properties);
  return { type: "object", properties, required, additionalProperties: false };
}

/** The judgements in the order of `ids`. */
export function readAnswer(answer: JudgeAnswer, ids: readonly string[]): ReadAnswer {
  const { completion, finish, refusal } = answer;
  const read = readVerdict(completion, ids);
  if ("judgements" in read) return read;
  const refused = refusal ?? (REFUSAL.test(completion) ? completion : undefined);
  if (refused !== undefined)
    return { type: "refused", problem: `it refused: ${visibleShort(refused.trim(), 120)}` };
  if (finish === "content_filter")
    return { type: "refused", problem: "its content filter stopped the answer" };
  if (finish === "length")
    return { type: "invalid_verdict", problem: "the answer was cut at the limit of tokens" };
  if (completion.trim() === "") return { type: "no_answer", problem: "the answer is empty" };
  return { type: "invalid_verdict", problem: read.problem };
}

/** A refusal in plain words, where the API's own field for it is not used. */
const REFUSAL =
  /^\W*(?:(?:i['’]?m|i am|we['’]?re) )?(?:very |so |really )?(?:sorry|afraid|unable|not able|not comfortable)\b|^\W*(?:i|we) (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|decline|refuse|do not feel)\b|^\W*as an ai\b/i;

/** The one question after an answer that cannot be used, in words that name the mistake. */
export function correction(problem: string, ids: readonly string[]): string {
  return `That answer cannot be used: ${problem}.
Answer again with the JSON alone. Each of these ids exactly once: ${ids.join(", ")}. Every score is a
number from 0 to 1.`;
}
