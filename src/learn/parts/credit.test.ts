import { expect, test } from "vitest";
import { byTurn, type EpisodeOfTurns, returnsOf, toEpisodes } from "./credit.ts";

/** Two tokens a turn; token t of the episode has the log-prob -t. */
function episode(...turnRewards: number[]): EpisodeOfTurns {
  const turnLengths = turnRewards.map(() => 2);
  const old = Array.from({ length: 2 * turnRewards.length }, (_, t) => -t);
  const score = turnRewards.reduce((sum, x) => sum + x, 0);
  const penalties = old.map(() => 0.25);
  const reward = score - penalties.length / 4;
  return { ...{ score, reward, penalties, old, values: undefined }, turnLengths, turnRewards };
}

test("a turn's return is its reward and the discounted rewards that follow", () => {
  expect(returnsOf([1, 0, 4], 1)).toEqual([5, 4, 4]);
  expect(returnsOf([1, 0, 4], 0.5)).toEqual([2, 2, 4]);
  expect(returnsOf([1, 0, 4], 0)).toEqual([1, 0, 4]);
});

test("turns are compared with the same turn of the other episodes, each with its own tokens", () => {
  const groups = byTurn([[episode(0, 1), episode(0, 0, 2)]], 1);
  expect(groups.map((group) => group.map(({ score }) => score))).toEqual([[1, 2], [1, 2], [2]]);
  expect(groups[1]?.[0]).toMatchObject({ old: [-2, -3], penalties: [0.25, 0.25], reward: 0.5 });
});

test("put together again, every token has what its turn had", () => {
  const group = [episode(0, 1), episode(0, 0, 2)];
  const turns = byTurn([group], 1);
  const columns = turns.map((own) =>
    own.map(({ old, score }) => ({ old, advantage: Array.from(old, () => score), row: score })),
  );
  expect(toEpisodes([group], columns)).toEqual([
    [
      { old: group[0]?.old, advantage: [1, 1, 1, 1], row: [1, 1, 1, 1] },
      { old: group[1]?.old, advantage: [2, 2, 2, 2, 2, 2], row: [2, 2, 2, 2, 2, 2] },
    ],
  ]);
});
