import { expect, test } from "vitest";
import type { Trajectory } from "../core/trajectory.ts";
import { EpisodeTally } from "./episode-tally.ts";

const episode = (reward: number | null, code = "solved") =>
  ({ reward, code, terminated: true, metrics: {}, messages: [] }) as unknown as Trajectory;

test("the pass rate is over episodes with a reward, as in an evaluation", () => {
  const tally = new EpisodeTally(["solved"]);
  for (const one of [episode(1), episode(0, "lost"), episode(null)]) tally.add(one);
  expect(tally.summary([])).toMatchObject({
    n: 3,
    n_solved: 1,
    n_without_reward: 1,
    pass_rate: 0.5,
  });
});

test("without any reward there is no pass rate", () => {
  const tally = new EpisodeTally(["replied"]);
  tally.add(episode(null, "replied"));
  expect(tally.summary([])).toMatchObject({ n_solved: 0, pass_rate: null, reward_mean: null });
});
