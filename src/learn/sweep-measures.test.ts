import { expect, test } from "vitest";
import { type SweepPoint, tradeoffSchema } from "../runs/sweep-schema.ts";
import { requireMeasures, requirePoints } from "./sweep-measures.ts";

const measure = (name: string, better: "higher" | "lower") => ({
  ...{ name, label: name, unit: "", better },
});
const curve = (...points: [x: number | null, y: number | null][]) =>
  tradeoffSchema.parse({
    ...{ over: "rate.peak", algorithm: "grpo" },
    ...{ x: measure("kl", "lower"), y: measure("reward", "higher") },
    points: points.map(([x, y], i) => ({
      ...{ value: i as SweepPoint["value"], run: String(i), x, y, pareto: null },
    })),
  });

test("a curve without a point that has both measures fails; one point is enough", () => {
  expect(() => requirePoints(curve([null, 1], [0.1, null]))).toThrow(/both reward and kl/);
  expect(() => requirePoints(curve([null, 1], [0.1, 1]))).not.toThrow();
});

test("a method that does not sample has no reward by scorer", () => {
  expect(() => requireMeasures({ algorithm: "sft" }, ["reward/brief"])).toThrow(/sft records no/);
  expect(() => requireMeasures({ algorithm: "sft" }, ["reward", "kl"])).not.toThrow();
});
