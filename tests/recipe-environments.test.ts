/** The recipes of environments: their start policies, charts and pages, as they are stored. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import { learningChart } from "../recipes/learning-chart.mjs";
import { openEnvironment } from "../src/environments/open.ts";
import { loadCheckpoint } from "../src/policy/checkpoint.ts";
import { ROOT } from "./cli.ts";

const RECIPES = ["tool-calls", "twenty48", "email-search"] as const;
const MOST_BYTES = 4_000_000;

const at = (...parts: string[]) => path.join(ROOT, "recipes", ...parts);
const figuresOf = (name: string) => JSON.parse(readFileSync(at(name, "results.json"), "utf8"));

test("the start policies are a few megabytes together", () => {
  const bytes = RECIPES.flatMap((name) =>
    readdirSync(at(name, "start")).map((file) => statSync(at(name, "start", file)).size),
  );
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES);
});

describe.each(RECIPES)("%s", (name) => {
  test("its start policy reads every task and has seen none of dev and holdout", async () => {
    const { tokenizer, seen } = await loadCheckpoint(at(name, "start"));
    const { definition } = await openEnvironment(name);
    for (const split of ["train", "dev", "holdout"] as const) {
      for (const [seed, task] of definition.tasks(split).entries()) {
        const { observation } = definition.reset(task, seed);
        const text = observation.map(({ content }) => content).join("");
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
        if (split !== "train") expect(seen?.learned.has(task.prompt), task.prompt).toBe(false);
      }
    }
    expect(seen?.learned.size).toBeGreaterThan(0);
  });

  test("its chart is drawn from its figures, and its page shows it", () => {
    const svg = readFileSync(at(name, "learning.svg"), "utf8");
    expect(learningChart(figuresOf(name)) === svg).toBe(true);
    expect(readFileSync(at(name, "README.md"), "utf8")).toContain("](learning.svg)");
  });

  test("the gate promotes the trained policy on 200 holdout tasks or more, for its policy alone", () => {
    const { gate, tasks } = figuresOf(name);
    expect(gate).toEqual({ decision: "PROMOTE", knobs: ["policy"] });
    expect(tasks).toBeGreaterThanOrEqual(200);
    const page = readFileSync(at(name, "README.md"), "utf8");
    expect(page).toContain("PROMOTE (changed: policy)");
  });
});
