/** Asks a judge about groups of episodes. */

import { verdictsOn } from "../../core/ask-judge.ts";
import type { Tool } from "../../core/environment.ts";
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
  for await (const [, verdict] of verdictsOn(judge, asked, (group) => group))
    verdicts.push(verdict);
  return verdicts;
}
