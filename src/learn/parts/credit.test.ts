import { describe, expect, test } from "vitest";
import type { ScoredEpisode } from "../algorithm.ts";
import { ppo } from "../algorithms/ppo.ts";
import { type Credit, credited, type EpisodeOfTurns, returnsOf, tokenScores } from "./credit.ts";

/** Two tokens a turn; token t of the episode has the log-prob -t. */
function episode(...turnRewards: number[]): EpisodeOfTurns {
  const turnLengths = turnRewards.map(() => 2);
  const old = Array.from({ length: 2 * turnRewards.length }, (_, t) => -t);
  const score = turnRewards.reduce((sum, x) => sum + x, 0);
  const penalties = old.map(() => 0.25);
  const reward = score - penalties.length / 4;
  const segments = turnRewards.map(() => 1);
  return {
    ...{ score, reward, penalties, old, values: undefined },
    ...{ turnLengths, turnRewards, segments },
  };
}

const scoresOf = (groups: readonly (readonly ScoredEpisode[])[]) =>
  groups.map((group) => group.map(({ score }) => score));

test("a turn's return is its reward and the discounted rewards that follow", () => {
  expect(returnsOf([1, 0, 4], 1)).toEqual([5, 4, 4]);
  expect(returnsOf([1, 0, 4], 0.5)).toEqual([2, 2, 4]);
  expect(returnsOf([1, 0, 4], 0)).toEqual([1, 0, 4]);
});

test("turns are compared with the same turn of the other episodes, each with its own tokens", () => {
  const { groups } = credited([[episode(0, 1), episode(0, 0, 2)]], "turn", 1);
  expect(scoresOf(groups)).toEqual([[1, 2], [1, 2], [2]]);
  expect(groups[1]?.[0]).toMatchObject({ old: [-2, -3], penalties: [0.25, 0.25], reward: 0.5 });
});

describe("segments", () => {
  const group = [episode(0, 1), episode(0, 0, 2)];

  test("are compared with all segments of their group, and with no other group", () => {
    const { groups } = credited([group, [episode(4)]], "segment", 0.5);
    expect(scoresOf(groups)).toEqual([[0.5, 1, 0.5, 1, 2], [4]]);
    expect(groups[0]?.[1]).toMatchObject({ old: [-2, -3] });
  });

  test("of several turns have the rewards of these turns, and one is the whole episode", () => {
    const grouped = { ...episode(1, 2, 4), segments: [2, 1] };
    expect(scoresOf(credited([[grouped]], "segment", 0.5).groups)).toEqual([[5, 4]]);
    const whole = { ...episode(1, 2, 4), segments: [3] };
    const [one, all] = [credited([[whole]], "segment", 0.5), credited([[whole]], "trajectory", 1)];
    expect(scoresOf(one.groups)).toEqual(scoresOf(all.groups));
  });
});

test.each<Credit>(["turn", "segment"])(
  "put together again, every token has what its %s had",
  (credit) => {
    const groups = [[episode(0, 1), episode(0, 0, 2)], [episode(5)]];
    const { groups: compared, toEpisodes } = credited(groups, credit, 1);
    const columns = compared.map((own) =>
      own.map(({ old, score }) => ({ old, advantage: Array.from(old, () => score), row: score })),
    );
    expect(toEpisodes(columns)).toEqual([
      [
        { old: groups[0]?.[0]?.old, advantage: [1, 1, 1, 1], row: [1, 1, 1, 1] },
        { old: groups[0]?.[1]?.old, advantage: [2, 2, 2, 2, 2, 2], row: [2, 2, 2, 2, 2, 2] },
      ],
      [{ old: groups[1]?.[0]?.old, advantage: [5, 5], row: [5, 5] }],
    ]);
  },
);

describe("with a value head", () => {
  test.each<[Credit, number[]]>([
    ["trajectory", [0, 0, 0, 0, 0, 7]],
    ["turn", [0, 1, 0, 2, 0, 4]],
    ["segment", [0, 0, 0, 3, 0, 4]],
  ])("by %s a reward is given at these tokens", (credit, expected) => {
    const game = { ...episode(1, 2, 4), segments: [2, 1] };
    expect([...tokenScores(game, credit)]).toEqual(expected);
  });

  test("advantages cross turns, and are those of the definition", () => {
    const [discount, lambda] = [0.9, 0.8];
    const values = [0.5, -0.25, 1, 0.75, -1, 2];
    const game = { ...episode(1, 2, 4), penalties: values.map(() => 0), values };
    const scores = tokenScores(game, "turn");
    const [found] =
      ppo.advantages?.(
        [[{ ...game, tokenScores: scores }]],
        ppo.settings.parse({ discount, lambda, whiten: false }),
        undefined,
      ).columns[0] ?? [];
    const surprise = (t: number) =>
      (scores[t] ?? 0) + discount * (values[t + 1] ?? 0) - (values[t] ?? 0);
    // The sum over everything that follows, of this turn and of the later ones.
    const expected = values.map((_, t) =>
      values.slice(t).reduce((sum, _v, k) => sum + (discount * lambda) ** k * surprise(t + k), 0),
    );
    const near = (list: readonly number[]) => list.map((x) => expect.closeTo(x, 9));
    expect(found?.advantage).toEqual(near(expected));
    expect(found?.return).toEqual(near(expected.map((x, t) => x + (values[t] as number))));
    // Cut at the turn's end, the first turn would know nothing of the last reward.
    const cut = surprise(1) - discount * (values[2] as number);
    expect(expected[1]).not.toBeCloseTo(cut, 3);
  });
});
