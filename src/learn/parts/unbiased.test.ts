/** RLOO is unbiased whatever the credit: its expected gradient, over all pairs of games, is that of the objective. */

import { expect, test } from "vitest";
import { rloo } from "../algorithms/rloo.ts";
import { type Credit, credited, type EpisodeOfTurns } from "./credit.ts";

/** Log-odds of action 1: in the first turn, and in the second after action 0 and after action 1. */
type Policy = readonly [first: number, after0: number, after1: number];

const POLICY: Policy = [0.4, -0.7, 1.1];
const REFERENCE: Policy = [-0.3, 0.2, 0.1];

interface Game {
  /** By turn: which log-odds decide, and which action was taken. */
  readonly choices: readonly (readonly [place: 0 | 1 | 2, action: 0 | 1])[];
  readonly rewards: readonly number[];
}

/** In a `short` one action 0 ends the game at once. */
function games(short: boolean): Game[] {
  const first = (a: 0 | 1) => [0, a] as const;
  const second = (a: 0 | 1, b: 0 | 1) => [a === 0 ? 1 : 2, b] as const;
  const both = [0, 1] as const;
  const of0 = short
    ? [{ choices: [first(0)], rewards: [1.5] }]
    : both.map((b) => ({ choices: [first(0), second(0, b)], rewards: [1.5, 3 * b] }));
  return [
    ...of0,
    ...both.map((b) => ({ choices: [first(1), second(1, b)], rewards: [-0.5, 5 * b - 1] })),
  ];
}

const chance = (logOdds: number, action: 0 | 1) => 1 / (1 + Math.exp(action ? -logOdds : logOdds));
const logprobs = (policy: Policy, { choices }: Game) =>
  choices.map(([place, action]) => Math.log(chance(policy[place], action)));
const total = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0);
const probability = (policy: Policy, game: Game) => Math.exp(total(logprobs(policy, game)));

/** The coefficient times log π − log π_ref of each turn. */
function penalties(policy: Policy, game: Game, coefficient: number): number[] {
  const reference = logprobs(REFERENCE, game);
  return logprobs(policy, game).map((own, t) => coefficient * (own - (reference[t] as number)));
}

function objective(policy: Policy, all: readonly Game[], coefficient: number): number {
  const worth = (game: Game) => total(game.rewards) - total(penalties(policy, game, coefficient));
  return total(all.map((game) => probability(policy, game) * worth(game)));
}

function trueGradient(all: readonly Game[], coefficient: number): number[] {
  const step = 1e-5;
  return POLICY.map((_, i) => {
    const moved = (by: number) =>
      objective(
        POLICY.map((x, j) => (i === j ? x + by : x)) as unknown as Policy,
        all,
        coefficient,
      );
    return (moved(step) - moved(-step)) / (2 * step);
  });
}

/** One token a turn, a row for each turn. */
function episode(game: Game, coefficient: number): EpisodeOfTurns {
  const own = penalties(POLICY, game, coefficient);
  const score = total(game.rewards);
  return {
    ...{ score, reward: score - total(own), penalties: own, old: logprobs(POLICY, game) },
    ...{ values: undefined, turnRewards: game.rewards },
    ...{ turnLengths: game.rewards.map(() => 1), segments: game.rewards.map(() => 1) },
  };
}

/** Of −loss, the mean over the two games of a group, summed over every pair of games by its probability. */
function expectedGradient(all: readonly Game[], credit: Credit, coefficient: number): number[] {
  const gradient = [0, 0, 0];
  for (const one of all)
    for (const other of all) {
      const pair = [one, other];
      const group = pair.map((game) => episode(game, coefficient));
      const { groups, toEpisodes } = credited([group], credit, 1);
      const { columns } = rloo.advantages?.(groups, { reduction: "sequences" }, undefined) ?? {
        columns: [],
      };
      const share = probability(POLICY, one) * probability(POLICY, other);
      for (const [i, { advantage }] of (toEpisodes(columns)[0] ?? []).entries())
        for (const [t, [place, action]] of (pair[i] as Game).choices.entries()) {
          const slope = action - chance(POLICY[place], 1);
          const own = (advantage as ArrayLike<number>)[t] as number;
          gradient[place] = (gradient[place] as number) + (share * own * slope) / 2;
        }
    }
  return gradient;
}

test.each([
  ["trajectory", false],
  ["turn", false],
  ["segment", false],
  ["trajectory", true],
  ["segment", true],
] as const)("by %s, games of different length: %s", (credit, short) => {
  const all = games(short);
  expect(total(all.map((game) => probability(POLICY, game)))).toBeCloseTo(1, 12);
  for (const coefficient of [0, 0.5]) {
    const wanted = trueGradient(all, coefficient);
    const found = expectedGradient(all, credit, coefficient);
    for (const [i, slope] of wanted.entries()) expect(found[i]).toBeCloseTo(slope, 6);
    expect(Math.abs(wanted[0] as number)).toBeGreaterThan(0.05);
  }
});
