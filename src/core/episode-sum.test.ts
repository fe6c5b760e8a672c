import { expect, test } from "vitest";
import type { Turn } from "./environment.ts";
import { EpisodeSum } from "./episode-sum.ts";

const turn = (text: string, reward: number | null, metrics = {}): Turn<string> => ({
  ...{ state: text, observation: [{ role: "user", content: text }], reward, metrics },
});

test("rewards and metrics of all turns are summed, and the start's reward is the first action's", () => {
  const sum = new EpisodeSum(turn("start", 0.5, { tool_errors: 1 }));
  sum.add(turn("one", 1, { tool_errors: 2 }));
  sum.add(turn("two", -2, { mails: 3 }));
  expect(sum).toMatchObject({
    ...{ reward: -0.5, turnRewards: [1.5, -2], metrics: { tool_errors: 3, mails: 3 } },
    turn: { state: "two" },
  });
  expect(sum.observations.map(([message]) => message?.content)).toEqual(["start", "one", "two"]);
});

test("one reward that could not be computed leaves none for the episode", () => {
  const sum = new EpisodeSum(turn("start", 0));
  sum.add(turn("one", null));
  sum.add(turn("two", 1));
  expect(sum.reward).toBeNull();
  expect(sum.turnRewards).toEqual([null, 1]);
});
