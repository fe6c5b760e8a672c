import { describe, expect, it } from "vitest";
import type { Sample } from "../../src/core/records.ts";
import { type ArithmeticExample, examplesOf } from "../../src/datasets/splits.ts";
import { score } from "../../src/scorers/math-final-line.ts";
import { frozenRollouts, selectionPacks } from "./frozen.ts";

const examples = new Map(examplesOf("dev").map((example) => [example.id, example]));
const scoreOf = (id: string, completion: string) =>
  score(examples.get(id) as ArithmeticExample, completion);
const mean = (values: number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
const hasFourDecimals = (value: number): boolean => /^-\d+(\.\d{1,4})?$/.test(String(value));

describe("the frozen rollouts", () => {
  const rollouts = frozenRollouts();

  it("complete every dev example once, in order", () => {
    expect(rollouts.map(({ id }) => id)).toEqual([...examples.keys()]);
  });

  it("pass at an interesting rate and fail in every way but invalid_example", () => {
    const results = rollouts.map(({ id, completion }) => scoreOf(id, completion));
    const passRate = mean(results.map(({ reward }) => reward));
    expect(passRate).toBeGreaterThanOrEqual(0.55);
    expect(passRate).toBeLessThanOrEqual(0.65);
    expect(new Set(results.map(({ code }) => code)).size).toBe(11);
  });

  it("mostly carry both log-probs, and some carry none", () => {
    const without = rollouts.filter(({ sum_logprob }) => sum_logprob === undefined);
    expect(without.length).toBeGreaterThanOrEqual(5);
    expect(without.length).toBeLessThan(40);
    for (const { sum_logprob, sum_ref_logprob } of rollouts) {
      expect(sum_ref_logprob === undefined).toBe(sum_logprob === undefined);
      if (typeof sum_logprob === "number") expect(sum_logprob).toSatisfy(hasFourDecimals);
      if (typeof sum_ref_logprob === "number") expect(sum_ref_logprob).toSatisfy(hasFourDecimals);
    }
  });
});

describe("the selection packs", () => {
  const packs = selectionPacks();
  const samples = packs.flatMap((pack) => pack.samples);
  const rewards = packs.map((pack) =>
    pack.samples.map((s) => scoreOf(pack.id, typeof s === "string" ? s : s.completion).reward),
  );

  it("hold eight samples for every dev example, in order", () => {
    expect(packs.map(({ id }) => id)).toEqual([...examples.keys()]);
    expect(new Set(packs.map((pack) => pack.samples.length))).toEqual(new Set([8]));
  });

  it("mix samples with a log-prob, without one, and bare strings", () => {
    const objects = samples.filter((sample): sample is Sample => typeof sample !== "string");
    const scored = objects.filter(({ sum_logprob }) => typeof sum_logprob === "number");
    expect(scored.length / samples.length).toBeGreaterThan(0.75);
    expect(objects.length - scored.length).toBeGreaterThan(50);
    expect(samples.length - objects.length).toBeGreaterThan(50);
    for (const { sum_logprob } of scored) expect(sum_logprob).toSatisfy(hasFourDecimals);
  });

  it("leave room for selection: one sample is often wrong, eight seldom all are", () => {
    const passAt1 = mean(rewards.flat());
    const passAt8 = mean(rewards.map((row) => Math.max(...row)));
    expect(passAt1).toBeGreaterThan(0.35);
    expect(passAt1).toBeLessThan(0.5);
    expect(passAt8).toBeGreaterThan(0.85);
    expect(passAt8).toBeLessThan(0.97);
  });
});
