/**
 * Which actions a reward is for. By trajectory every token of an episode learns from the same reward,
 * the sum. By turn and by segment an action learns from the rewards from it on, discounted: what came
 * before is not its doing. A turn is compared with the same turn of the other episodes of the group. A
 * segment is what the policy read at once: one turn where it reads only the last observation, else the
 * whole episode. It is compared with all segments of the group, so that also the last turns of the
 * longest game have something to be compared with. A penalty in the reward is one of the rewards to come.
 *
 * A method with a value head compares nothing: there, credit says at which token a reward is given.
 */

import type { TrainingRow } from "../../engine/loss.ts";
import type { Advantages, EpisodeGroup, ScoredEpisode } from "../algorithm.ts";

export const CREDITS = ["trajectory", "turn", "segment"] as const;
export type Credit = (typeof CREDITS)[number];

/** An episode whose turns are known: how many tokens each wrote, and the reward of each. */
export interface EpisodeOfTurns extends ScoredEpisode {
  readonly turnLengths: readonly number[];
  readonly turnRewards: readonly number[];
  /** How many turns each segment has. */
  readonly segments: readonly number[];
}

/** A turn or a segment. */
interface Part {
  readonly length: number;
  readonly reward: number;
}

function partsOf({ turnLengths, turnRewards, segments }: EpisodeOfTurns, credit: Credit): Part[] {
  const turns = turnLengths.map((length, t) => ({ length, reward: turnRewards[t] ?? 0 }));
  if (credit === "turn") return turns;
  const sizes = credit === "segment" ? segments : [turns.length];
  let from = 0;
  return sizes.map((size) => {
    const own = turns.slice(from, from + size);
    from += size;
    const total = (of: keyof Part) => own.reduce((sum, part) => sum + part[of], 0);
    return { length: total("length"), reward: total("reward") };
  });
}

/** For each part the discounted sum of the rewards from it on. */
export function returnsOf(rewards: readonly number[], discount: number): number[] {
  const returns = new Array<number>(rewards.length);
  let ahead = 0;
  for (let turn = rewards.length - 1; turn >= 0; turn--) {
    ahead = (rewards[turn] as number) + discount * ahead;
    returns[turn] = ahead;
  }
  return returns;
}

/** Of each token: a part's reward is given at its last one. */
export function tokenScores(episode: EpisodeOfTurns, credit: Credit): Float64Array {
  const scores = new Float64Array(episode.old.length);
  let end = 0;
  for (const { length, reward } of partsOf(episode, credit)) {
    end += length;
    const last = Math.max(0, end - 1);
    scores[last] = (scores[last] ?? 0) + reward;
  }
  return scores;
}

export interface Credited {
  /** The groups of what is compared. */
  readonly groups: readonly EpisodeGroup[];
  /** Columns of these groups put together again, as columns of episodes. */
  toEpisodes(columns: Advantages["columns"]): Advantages["columns"];
}

/** Groups of episodes as groups of what the credit compares. */
export function credited(
  groups: readonly (readonly EpisodeOfTurns[])[],
  credit: Credit,
  discount: number,
): Credited {
  if (credit === "trajectory") return { groups, toEpisodes: (columns) => columns };
  const split = groups.map((group) => {
    const parts = group.map((episode, i) => episodesOf(episode, i, credit, discount));
    return { group, parts, compared: comparisons(parts, credit) };
  });
  return {
    groups: split.flatMap(({ parts, compared }) =>
      compared.map((list) => list.map(([i, p]) => parts[i]?.[p] as ScoredEpisode)),
    ),
    toEpisodes(columns) {
      let next = 0;
      return split.map(({ group, compared }) => {
        const own: TrainingRow["columns"][][] = group.map(() => []);
        for (const list of compared) {
          const found = columns[next++] ?? [];
          for (const [k, [i, p]] of list.entries()) {
            (own[i] as TrainingRow["columns"][])[p] = found[k] ?? {};
          }
        }
        return group.map((episode, i) => joined(own[i] ?? [], partsOf(episode, credit)));
      });
    },
  };
}

/** Which parts are compared with each other, each as the number of its episode and its own. */
function comparisons(parts: readonly (readonly unknown[])[], credit: Credit): [number, number][][] {
  const all = parts.flatMap((own, i) => own.map((_, p): [number, number] => [i, p]));
  if (credit === "segment") return [all];
  const most = Math.max(...parts.map(({ length }) => length));
  return Array.from({ length: most }, (_, turn) => all.filter(([, p]) => p === turn));
}

/** Each part as if it were an episode. */
function episodesOf(
  episode: EpisodeOfTurns,
  partOf: number,
  credit: Credit,
  discount: number,
): ScoredEpisode[] {
  let from = 0;
  const parts = partsOf(episode, credit).map(({ length, reward: score }) => {
    const cut = (list: ArrayLike<number>) => Array.prototype.slice.call(list, from, from + length);
    const penalties: number[] = cut(episode.penalties);
    const own: ScoredEpisode = {
      ...{ partOf, score, penalties, old: cut(episode.old) },
      reward: score - penalties.reduce((sum, x) => sum + x, 0),
      values: episode.values && cut(episode.values),
    };
    from += length;
    return own;
  });
  const ahead = (of: "score" | "reward") =>
    returnsOf(
      parts.map((part) => part[of]),
      discount,
    );
  const [scores, rewards] = [ahead("score"), ahead("reward")];
  return parts.map((part, p) => ({
    ...part,
    ...{ score: scores[p] as number, reward: rewards[p] as number },
  }));
}

/** A number for a part becomes a number for each of its tokens. */
function joined(
  columns: readonly TrainingRow["columns"][],
  parts: readonly Part[],
): TrainingRow["columns"] {
  const names = Object.keys(columns[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [
      name,
      columns.flatMap((own, p) => {
        const value = own[name] ?? 0;
        return typeof value === "number"
          ? new Array<number>(parts[p]?.length ?? 0).fill(value)
          : Array.from(value);
      }),
    ]),
  );
}
