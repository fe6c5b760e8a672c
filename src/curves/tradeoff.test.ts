import { expect, test } from "vitest";
import type { TrainingRunRecords } from "../runs/read-training-run.ts";
import { measuredOf, measureOf } from "./measures.ts";
import { paretoOptimal } from "./pareto.ts";
import { parseMeasurePair, tradeoffChart, tradeoffOf } from "./tradeoff.ts";

/** A run that kept the policy of step 2, with a better evaluation before it. */
function run({ reward = 0.5, kl = 0.1 as number | null, tokens = 10 } = {}): TrainingRunRecords {
  const evaluation = {
    ...{ examples: 4, pass_rate: reward, proxy_mean: reward, entropy: 1, length_mean: 5 },
    ...{ truncated: 0, repeated: 0, outcomes: {}, rewards: [], kl_exact: kl },
  };
  return {
    evaluations: [
      { ...evaluation, step: 0, reward_mean: 0.99 },
      { ...evaluation, step: 2, reward_mean: reward },
      { ...evaluation, step: 4, reward_mean: 0.01 },
    ],
    summary: { stop: { reason: "plateau", step: 4, kept: 2 } },
    steps: [1, 2, 3, 4].map((step) => ({
      ...{ step, outcomes: undefined },
      values: { tokens, sampled_tokens: 2 * tokens, "reward/brief": step / 10 },
    })),
  } as unknown as TrainingRunRecords;
}

test("a point is Pareto-optimal unless another is as good in both and better in one", () => {
  const points = [
    [1, 1],
    [2, 0],
    [1, 0.5],
    [0.5, 0.5],
  ];
  expect(paretoOptimal(points)).toEqual([true, true, false, false]);
  expect(paretoOptimal([...points, [1, 1]])).toEqual([true, true, false, false, true]);
});

test("measures are those of the kept policy, and tokens those of all steps", () => {
  expect(measuredOf(run(), "reward")).toBe(0.5);
  expect(measuredOf(run(), "tokens")).toBe(120);
  expect(measuredOf(run(), "reward/brief")).toBeCloseTo(0.15);
  expect(measuredOf(run(), "reward/absent")).toBeUndefined();
  expect(measureOf("reward/brief").better).toBe("higher");
  expect(measureOf("cost/mean").better).toBe("lower");
});

test.each(["reward", "reward:", "reward:reward", "reward:kl:length", "reward:beauty"])(
  "--tradeoff %s is refused",
  (text) => {
    expect(() => parseMeasurePair(text)).toThrow();
    expect(parseMeasurePair("reward:kl")).toEqual({ y: "reward", x: "kl" });
  },
);

test("less KL is better, more reward is better, and a run without a KL is not compared", () => {
  const runs = [
    { value: 0, name: "a", run: run({ reward: 0.8, kl: 0.3 }) },
    { value: 1, name: "b", run: run({ reward: 0.7, kl: 0.4 }) },
    { value: 2, name: "c", run: run({ reward: 0.6, kl: 0.1 }) },
    { value: 3, name: "d", run: run({ reward: 0.9, kl: null }) },
  ];
  const found = tradeoffOf(
    { over: "kl.coefficient", algorithm: "grpo", runs },
    parseMeasurePair("reward:kl"),
  );
  expect(found.points.map(({ pareto }) => pareto)).toEqual([true, false, true, null]);
  const [optimal, rest] = tradeoffChart(found).series;
  expect(optimal?.points.map(({ label }) => label)).toEqual(["2", "0"]);
  expect(rest).toMatchObject({ line: "none", points: [{ label: "1", x: 0.4, y: 0.7 }] });
});
