import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../core/json.ts";
import { columns } from "../core/visible.ts";
import { ALGORITHMS, algorithmOf } from "../learn/algorithms/index.ts";
import { idleSettings } from "../learn/settings/unused.ts";
import { trainSettings } from "../learn/settings.ts";
import { recipeText } from "./recipe-text.ts";

const NAMES = ALGORITHMS.map(({ name }) => name);
const recipeOf = (name: string, given: JsonObject = {}) => {
  const text = recipeText(algorithmOf(name), given);
  return { text, settings: parse(text) as JsonObject };
};

describe.each(NAMES)("the recipe of %s", (name) => {
  const algorithm = algorithmOf(name);
  const { text, settings } = recipeOf(name);

  test("is the defaults, whatever the steps", () => {
    expect(settings.steps).toBe(algorithm.defaults.steps);
    for (const steps of [1, 5, 1000]) {
      const repeated = trainSettings(algorithm, { ...settings, steps });
      expect(repeated).toEqual(trainSettings(algorithm, { steps }));
    }
  });

  test("has nothing in it that does nothing", () => {
    expect(idleSettings(algorithm, { ...settings, steps: 9 })).toEqual([]);
  });

  test("fits into 80 columns, and explains every setting", () => {
    expect(text.split("\n").filter((line) => columns(line) > 80)).toEqual([]);
    expect(text).not.toContain("undefined");
  });

  test("has every setting, in a line of its own or among those left out", () => {
    const left = /^# Not used by [^:]*: ([^.]*(?:\.[^.]+)*)\.$/ms.exec(text)?.[1] ?? "";
    const unused = left.replaceAll("\n# ", " ").split(", ");
    const all = trainSettings(algorithm, {
      ...{ steps: 9, cost: { limit: 1 }, stop: {} },
      ...(algorithm.valueHead ? {} : { lora: {} }),
    });
    for (const [outer, value] of Object.entries(all)) {
      if (unused.includes(outer)) continue;
      expect(text).toMatch(new RegExp(`^(# )?${outer}:`, "m"));
      if (value === null || typeof value !== "object") continue;
      for (const inner of Object.keys(value)) {
        if (unused.includes(`${outer}.${inner}`)) continue;
        expect(text).toMatch(new RegExp(`^${outer}:(?:.*\n)(?: .*\n)* {2}(# )?${inner}:`, "m"));
      }
    }
  });

  test("what is set aside can be taken in by its mark alone", () => {
    const whole = text
      .replaceAll(/^( {0,2})# (\w+: )/gm, "$1$2")
      .replaceAll(/^( {0,2})#( {9,}#)/gm, "$1 $2")
      .replaceAll("VALUE", "3");
    const taken = trainSettings(algorithm, parse(whole) as JsonObject);
    expect(taken).toMatchObject({ stop: { plateau: { steps: 50, delta: 0 }, target: null } });
    if (!algorithm.valueHead) expect(taken.lora).toMatchObject({ rank: 8, alpha: 16 });
    if (algorithm.needs === "rollouts") expect(taken.cost).toMatchObject({ limit: 3 });
  });
});

test("what is given shows, and comes back", () => {
  const given: JsonObject = {
    ...{ steps: 7, batch: 4, lora: { targets: ["q_proj", "down_proj"] } },
    ...{ cost: { limit: -1 }, kl: { mode: "adaptive", target: 2 }, kl_limit: null },
    weights: Array.from({ length: 60 }, (_, i) => i / 7),
    algorithm: { epochs: 3 },
  };
  const { text, settings } = recipeOf("grpo", given);
  const algorithm = algorithmOf("grpo");
  expect(trainSettings(algorithm, settings)).toEqual(trainSettings(algorithm, given));
  expect(text.split("\n").filter((line) => columns(line) > 80)).toEqual([]);
  expect(text).toMatch(/^steps: 7 +# number of updates/m);
  expect(text).toMatch(/^ {2}horizon: 10000 +# horizon/m);
  expect(text).toMatch(/^batch: 4 +# no effect on grpo;/m);
  expect(text).not.toContain("Not used by");
  expect(recipeOf("grpo", settings).text).toBe(text);
});

test("what does nothing is set aside, unless somebody gave it", () => {
  const { text, settings } = recipeOf("grpo", { kl: { coefficient: 0.5 } });
  expect(settings.kl).toEqual({
    ...{ mode: "none", coefficient: 0.5, estimator: null, place: null },
    diagnostic_share: 0.125,
  });
  expect(text).toMatch(/^ {2}coefficient: 0\.5 +# for kl\.mode=fixed; /m);
  expect(text).toMatch(/^ {2}# target: 1 +# for kl\.mode=adaptive; /m);
  const penalised = recipeOf("grpo", { kl: { mode: "fixed" } });
  expect(penalised.settings.kl).not.toHaveProperty("diagnostic_share");
  expect(penalised.text).toMatch(/^ {2}# diagnostic_share: 0\.125 +# for kl\.mode=none; /m);
  const unused = recipeOf("sft", { kl: { mode: "fixed" }, rollouts: {} });
  expect(unused.settings).toMatchObject({ kl: { mode: "fixed" }, rollouts: {} });
  expect(unused.text).toMatch(/^ {2}mode: fixed +# no effect on sft;/m);
  expect(unused.text).toContain("Not used by sft: weights, cost.");
});

test("says what a value may be", () => {
  const { text } = recipeOf("grpo");
  const flat = text.replaceAll(/\n[ #]{20,}# /g, " ");
  for (const [name, words] of [
    ["steps", "whole number from 1 to 10000000"],
    ["peak", "from 0 to 10"],
    ["beta1", "from 0, below 1"],
    ["epsilon", "above 0"],
    ["targets", "list, each q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj or down_proj"],
    ["micro_batch_size", "whole number from 1 up or null"],
    ["limit", "any number"],
    ["alarms_stop", "true or false"],
    ["estimator", "k1, k2, k3 or null"],
  ]) {
    expect(flat).toMatch(new RegExp(`^ *(# )?${name}: .*\\(${words}\\)$`, "m"));
  }
});

test.each<[JsonObject, RegExp]>([
  [{ stepz: 3 }, /unknown setting stepz/],
  [{ rate: { end: 3 } }, /rate\.end/],
  [{ cost: { rate: 1 } }, /cost\.limit is missing/],
  [{ kl: { mode: "fixed", estimator: "k1" } }, /has no effect in the loss/],
])("%j is refused, as by training", (given, says) => {
  expect(() => recipeOf("grpo", given)).toThrow(says);
});
