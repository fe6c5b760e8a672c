/** Completions with their rewards: the scorers of Loop A, unchanged, put together by weights. */

import { dataError } from "../../core/errors.ts";
import type { Example } from "../../core/records.ts";
import type { CheckedScore, GuardedScorer } from "../../core/score.ts";
import { visibleShort } from "../../core/visible.ts";

export interface Asked {
  readonly example: Example;
  readonly completion: string;
}

export interface Scores {
  /** The weighted sum of each completion. */
  readonly rewards: readonly number[];
  /** Of each scorer in turn. */
  readonly components: readonly (readonly number[])[];
  /** The first scorer's outcome codes. */
  readonly codes: readonly string[];
  readonly costs: readonly number[] | undefined;
}

/** A broken scorer is never a zero: it ends the run. */
export async function scoresOf(
  asked: readonly Asked[],
  scorings: readonly GuardedScorer[],
  weights: readonly number[] | null,
  cost?: GuardedScorer,
): Promise<Scores> {
  const judged = await Promise.all(scorings.map((scoring) => scoring.scoreBatch(asked)));
  const components = judged.map((list, i) => rewardsOf(list, asked, scorings[i] as GuardedScorer));
  return {
    rewards: asked.map((_, row) =>
      components.reduce((sum, own, i) => sum + (weights?.[i] ?? 1) * (own[row] as number), 0),
    ),
    components,
    codes: judged[0]?.map(({ code }) => code) ?? [],
    costs: cost && rewardsOf(await cost.scoreBatch(asked), asked, cost),
  };
}

function rewardsOf(
  judged: readonly CheckedScore[],
  asked: readonly Asked[],
  { identity }: GuardedScorer,
): number[] {
  return judged.map(({ reward, code, details }, row) => {
    if (reward !== null) return reward;
    const { example, completion } = asked[row] as Asked;
    throw dataError(
      `the scorer ${identity.name} gave no reward (${code}) for "${visibleShort(completion, 40)}" on ${example.id}: ${visibleShort(JSON.stringify(details), 120)}`,
      "Mend the scorer and begin anew: a broken scorer is never a zero, so nothing was learned from it.",
    );
  });
}

export function countOf(codes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
