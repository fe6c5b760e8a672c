/** The figures that level 1 states about a learning rate that is too large. */

import { expect, test } from "vitest";
import { ARMS, trainBandit } from "../../learn/tabular/bandit.ts";
import { expectation, softmax } from "../../learn/tabular/softmax.ts";
import { LARGE_RATE, LEVEL_1, SEEDS } from "./level-1.ts";

const SETTINGS = { steps: 200, baseline: true };

function endOf(lr: number, seed: number) {
  const logits = [...trainBandit({ ...SETTINGS, lr, seed })].at(-1)?.logits_after ?? [];
  const probabilities = softmax(logits);
  return {
    reward: expectation(probabilities, ARMS),
    favoursD: Math.max(...probabilities) === probabilities[3],
  };
}

function overSeeds(lr: number) {
  const ends = Array.from({ length: SEEDS }, (_, seed) => endOf(lr, seed));
  return {
    mean: ends.reduce((sum, { reward }) => sum + reward, 0) / SEEDS,
    favourD: ends.filter(({ favoursD }) => favoursD).length,
  };
}

test("seed 0 ends higher with the large rate, and 100 seeds lower: the stated figures", () => {
  const [usual, large] = [endOf(0.5, 0).reward, endOf(2, 0).reward];
  expect(large).toBeGreaterThan(usual);
  const [all, allLarge] = [overSeeds(0.5), overSeeds(2)];
  expect(allLarge.mean).toBeLessThan(all.mean);
  const stated = LARGE_RATE.match(/0\.\d{4}|\b\d+ seeds against \d+/g);
  expect(stated).toEqual([
    ...[large.toFixed(4), usual.toFixed(4), allLarge.mean.toFixed(4), all.mean.toFixed(4)],
    `${allLarge.favourD} seeds against ${all.favourD}`,
  ]);
});

test("the level and the check of the paragraph show it, with the commands", () => {
  const { text, commands } = LEVEL_1.stages.Reflect ?? { text: "", commands: [] };
  const paragraph = LEVEL_1.checks.find(
    (check) => typeof check !== "string" && check.id === "paragraph",
  );
  const next = typeof paragraph === "object" ? paragraph.next : "";
  for (const shown of [text + commands.join("\n"), next]) {
    expect(shown).toContain(LARGE_RATE);
    expect(shown.match(/--seeds 100/g)).toHaveLength(2);
  }
});
