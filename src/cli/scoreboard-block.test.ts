import { expect, test } from "vitest";
import type { Week } from "../course/scoreboard/index.ts";
import { weekBlock } from "./scoreboard-block.ts";

const cost = { seconds: 308.7, tokens: 999_323, money: 0.11, unpriced: 1 };

const week: Week = {
  ...{ schema: "lockedroom.scoreboard@2", week: 12, days: [78, 84], run: null, baseline: null },
  ...{ parts: [], price_per_hour: 2.5, failures: ["a", "b"], fixes: ["c"], skills: {} },
  shipped: { build: "runs/dpo", theory: null, eval: null, blog: null },
  metrics: {
    ...{ success: 0.5958, format_drift: null, safety_drift: -0.0125, refusal_drift: null },
    hallucination_proxy: { value: 0.0833, from: "1 − mean of the axis hallucination" },
    ...{ mean_length: 10.4, kl: { value: 0.5118, from: "exact KL of runs/dpo" }, cost },
  },
};

test("a long cost continues on the next line, and nothing of it is lost", () => {
  const block = weekBlock(week);
  expect(block.split("\n").filter((line) => [...line].length > 80)).toEqual([]);
  expect(block.replaceAll("\n  ", " ")).toContain(
    "- Cost estimate ($ or tokens): 999323 tokens, 0.11 at the stated prices, 1 without a price, 308.7 s",
  );
  expect(block).toContain("- Safety/refusal drift: safety -0.0125, refusal not measured\n");
});
