/** Where the rewards of a batch come from: the environment's own, or a judge that compares the episodes of a task. */

import { ENVIRONMENT_ERROR } from "../../core/environment.ts";
import { dataError } from "../../core/errors.ts";
import { type GroupJudge, isDropped, type Judgement } from "../../core/judge.ts";
import { type Episode, requireReward } from "../play.ts";
import { askJudge, type JudgeOffer } from "./ask.ts";
import { type JudgeCounts, noCounts, withVerdict } from "./counts.ts";

/** All episodes of one task, with their rewards. */
export interface Group {
  readonly episodes: readonly Episode[];
  readonly rewards: readonly number[];
  /** What the environment gave, where a judge rewards and the environment gives rewards too. */
  readonly independent?: readonly number[] | undefined;
}

export interface RewardedGroups {
  /** In order; a group without a verdict is left out. */
  readonly groups: readonly Group[];
  /** What a judge was asked; undefined where there is none. */
  readonly judged?: JudgeCounts | undefined;
}

export type RewardGroups = (groups: readonly (readonly Episode[])[]) => Promise<RewardedGroups>;

/** The rewards that episodes have; a missing one stops the run. */
export const ownRewards: RewardGroups = async (groups) => ({
  groups: groups.map((episodes) => ({ episodes, rewards: episodes.map(requireReward) })),
});

/** The scores of a judge; a group without a verdict is counted and left out, never scored 0. */
export function judgedRewards(judge: GroupJudge, offer: JudgeOffer): RewardGroups {
  return async (groups) => {
    for (const episode of groups.flat()) requirePlayed(episode);
    const verdicts = await askJudge(judge, offer, groups);
    const judged = verdicts.reduce(withVerdict, noCounts());
    const kept = verdicts.flatMap((verdict, g) =>
      isDropped(verdict) ? [] : [judgedGroup(groups[g] ?? [], verdict.judgements)],
    );
    return { groups: kept, judged };
  };
}

function judgedGroup(episodes: readonly Episode[], judgements: readonly Judgement[]): Group {
  const rewards = judgements.map(({ score }) => score);
  const own = episodes.flatMap(({ reward }) => reward ?? []);
  return {
    episodes: episodes.map((episode, i) => withScore(episode, rewards[i] as number)),
    rewards,
    ...(own.length > 0 && { independent: own }),
  };
}

/** One reward for the whole episode, given at its last turn: a judge says nothing of single turns. */
function withScore(episode: Episode, score: number): Episode {
  const last = episode.turnRewards.length - 1;
  const turnRewards = episode.turnRewards.map((_, turn) => (turn === last ? score : 0));
  return { ...episode, reward: score, turnRewards };
}

/** Where the environment broke there is nothing to judge. */
function requirePlayed(episode: Episode): void {
  if (episode.end.code === ENVIRONMENT_ERROR) requireReward({ ...episode, reward: null });
}

/** Nothing to learn from in this step. */
export function noGroups(step: number, { groups, reasons, example }: JudgeCounts): Error {
  const listed = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`);
  return dataError(
    `the judge gave no verdict on any of the ${groups} groups of step ${step} (${listed.join(", ")})${example === undefined ? "" : `, such as ${example}`}`,
    "A group without a verdict is left out and never scored 0, so there is nothing to learn from. Check the judge's endpoint and its limits, then go on with --resume.",
  );
}
