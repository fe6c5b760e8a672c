/**
 * Which actions a reward is for. By trajectory every token of an episode has the same reward, the
 * sum. By turn a turn has the rewards from itself on, discounted: what came before is not its doing.
 * Turns are then compared with the same turn of the other episodes of the group.
 */

import type { TrainingRow } from "../../engine/loss.ts";
import type { Advantages, EpisodeGroup, ScoredEpisode } from "../algorithm.ts";

export const CREDITS = ["trajectory", "turn"] as const;
export type Credit = (typeof CREDITS)[number];

/** An episode whose turns are known: how many tokens each wrote, and the reward of each. */
export interface EpisodeOfTurns extends ScoredEpisode {
  readonly turnLengths: readonly number[];
  readonly turnRewards: readonly number[];
}

/** For each turn the discounted sum of the rewards from it on. */
export function returnsOf(rewards: readonly number[], discount: number): number[] {
  const returns = new Array<number>(rewards.length);
  let ahead = 0;
  for (let turn = rewards.length - 1; turn >= 0; turn--) {
    ahead = (rewards[turn] as number) + discount * ahead;
    returns[turn] = ahead;
  }
  return returns;
}

/** The groups as groups of turns: first those of the first group's first turns, then its second. */
export function byTurn(
  groups: readonly (readonly EpisodeOfTurns[])[],
  discount: number,
): EpisodeGroup[] {
  return groups.flatMap((group) => {
    const turns = group.map((episode) => turnsOf(episode, discount));
    const most = Math.max(...turns.map(({ length }) => length));
    return Array.from({ length: most }, (_, t) => turns.flatMap((own) => (own[t] ? [own[t]] : [])));
  });
}

function turnsOf(episode: EpisodeOfTurns, discount: number): ScoredEpisode[] {
  const returns = returnsOf(episode.turnRewards, discount);
  let from = 0;
  return episode.turnLengths.map((length, turn) => {
    const part = (list: ArrayLike<number>) => Array.prototype.slice.call(list, from, from + length);
    const penalties: number[] = part(episode.penalties);
    const score = returns[turn] as number;
    const own: ScoredEpisode = {
      score,
      reward: score - penalties.reduce((sum, x) => sum + x, 0),
      ...{ penalties, old: part(episode.old) },
      values: episode.values && part(episode.values),
    };
    from += length;
    return own;
  });
}

/** The columns of the turns put together again, as columns of episodes. */
export function toEpisodes(
  groups: readonly (readonly EpisodeOfTurns[])[],
  columns: Advantages["columns"],
): Advantages["columns"] {
  let next = 0;
  return groups.map((group) => {
    const most = Math.max(...group.map(({ turnLengths }) => turnLengths.length));
    const own: TrainingRow["columns"][][] = group.map(() => []);
    for (let t = 0; t < most; t++) {
      const ofTurn = (columns[next++] ?? []).values();
      for (const [i, { turnLengths }] of group.entries()) {
        if (t < turnLengths.length) own[i]?.push(ofTurn.next().value ?? {});
      }
    }
    return own.map((turns, i) => joined(turns, group[i]?.turnLengths ?? []));
  });
}

/** A number for a row of one turn becomes a number for each of its tokens. */
function joined(
  turns: readonly TrainingRow["columns"][],
  lengths: readonly number[],
): TrainingRow["columns"] {
  const names = Object.keys(turns[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [
      name,
      turns.flatMap((columns, t) => {
        const value = columns[name] ?? 0;
        return typeof value === "number"
          ? new Array<number>(lengths[t] ?? 0).fill(value)
          : Array.from(value);
      }),
    ]),
  );
}
