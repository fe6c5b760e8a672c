/** Asks a judge about groups of episodes. */

import type { Tool } from "../../core/environment.ts";
import { dataError } from "../../core/errors.ts";
import type { GroupJudge, GroupToJudge, GroupVerdict } from "../../core/judge.ts";
import type { Episode } from "../play.ts";
import { conversationOf } from "../sample.ts";

/** What was offered to the policy in every episode. */
export interface JudgeOffer {
  readonly tools: readonly Tool[];
}

/** Verdicts in the order of the groups. */
export function askJudge(
  judge: GroupJudge,
  { tools }: JudgeOffer,
  groups: readonly (readonly Episode[])[],
): Promise<GroupVerdict[]> {
  return verdictsOf(
    judge,
    groups.map((episodes) => ({
      id: episodes[0]?.task.id ?? "",
      attempts: episodes.map(conversationOf),
      tools,
    })),
  );
}

export async function verdictsOf(
  judge: GroupJudge,
  asked: readonly GroupToJudge[],
): Promise<GroupVerdict[]> {
  const verdicts: GroupVerdict[] = [];
  for await (const verdict of judge.judge(asked)) verdicts.push(verdict);
  if (verdicts.length === asked.length) return verdicts;
  // Scores of one group must not reach another.
  throw dataError(
    `the judge ${judge.identity.name} gave ${verdicts.length} verdicts on ${asked.length} groups`,
    "Nothing was learned from them. Correct the judge, then go on with --resume.",
  );
}
