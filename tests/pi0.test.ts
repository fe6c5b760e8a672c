/** The embedded policy π₀: what it is, what it learned from, and that all three loops take it as it is. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { keyOf } from "../src/environments/arithmetic/problems.ts";
import { heldOutProblems } from "../src/environments/arithmetic/splits.ts";
import { DEV, describeRun, EXIT, ROOT, Workspace } from "./cli.ts";

const PI0 = path.join(ROOT, "assets/pi0");
const TRAIN = path.join(ROOT, "data/datasets/math_train.jsonl");
const SAMPLING = ["--temperature", "1", "--max-tokens", "32"];

test("is at most 2 MB, and says what it was trained on", async () => {
  const bytes = readdirSync(PI0).reduce((sum, name) => sum + statSync(`${PI0}/${name}`).size, 0);
  expect(bytes).toBeLessThanOrEqual(2_000_000);
  const shown = await new Workspace().run(["policy", "show", PI0]);
  expect(shown, describeRun(shown)).toMatchObject({ code: EXIT.ok });
  expect(shown.stdout).toMatch(/sft/);
});

test("learned from problems that are neither in dev nor in holdout, not even commuted", async () => {
  const held = new Set(
    (["dev", "holdout"] as const).flatMap((split) => heldOutProblems(split).map(keyOf)),
  );
  const { textAt } = await import(path.join(ROOT, "recipes/pi0/texts.mjs"));
  for (const stage of [1, 2]) {
    for (let i = 0; i < 10_000; i++) {
      const { problem } = textAt(stage, i);
      expect(held.has(keyOf(problem)), JSON.stringify(problem)).toBe(false);
    }
  }
  const prompts = (file: string) =>
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).prompt as string);
  const holdout = path.join(ROOT, "data/datasets/math_holdout.jsonl");
  const measured = new Set([...prompts(DEV), ...prompts(holdout)]);
  expect(prompts(TRAIN).filter((prompt) => measured.has(prompt))).toEqual([]);
  expect(new Set(prompts(TRAIN)).size).toBe(2000);
});

describe("its rollouts on dev at temperature 1", () => {
  const place = new Workspace();
  const run = async (...args: string[]) => {
    const result = await place.run(args);
    expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok });
    return result;
  };
  const rollout = (n: number, outdir: string, ...more: string[]) =>
    run(
      ...["rollout", "--policy", PI0, "--dataset", DEV, "--n", String(n), ...SAMPLING],
      ...["--outdir", outdir, ...more],
    );

  test("are evaluated, selected from and gated like the frozen files", async () => {
    await rollout(1, "one");
    const completions = ["--completions", "one/completions.jsonl"];
    await run("eval", "--dataset", DEV, ...completions, "--outdir", "scored");
    const { metrics, outcomes } = JSON.parse(place.read("scored/summary.json"));
    expect(metrics.pass_rate).toBeGreaterThanOrEqual(0.25);
    expect(metrics.pass_rate).toBeLessThanOrEqual(0.45);
    const seen = Object.values(outcomes.counts as Record<string, number>).filter((n) => n > 0);
    expect(seen.length).toBeGreaterThanOrEqual(6);

    await rollout(8, "eight");
    const pick = (n: number) =>
      run(
        ...["selection-demo", "--dataset", DEV, "--samples", "eight/samples.jsonl"],
        ...["--n", String(n), "--outdir", `best${n}`],
      );
    await pick(1);
    await pick(8);
    const chosen = JSON.parse(place.read("best8/summary.json")).metrics;
    const at = (k: number) => chosen.pass_at_k.find((row: { k: number }) => row.k === k).value;
    expect(at(1)).toBeGreaterThanOrEqual(0.25);
    expect(at(1)).toBeLessThanOrEqual(0.45);
    expect(at(8)).toBeGreaterThanOrEqual(0.75);

    const claim = (baseline: string, candidate: string, knob: string) =>
      place.run(["gate", "--baseline", baseline, "--candidate", candidate, "--claim", knob]);
    expect(await claim("best1", "best8", "selection")).toMatchObject({ code: 0 });
    const refused = await claim("best1", "best8", "policy");
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toMatch(/distribution is unchanged/);
  });

  test("another seed is luck, not a better policy", async () => {
    await rollout(1, "again", "--seed", "7");
    const completions = ["--completions", "again/completions.jsonl"];
    await run("eval", "--dataset", DEV, ...completions, "--outdir", "scored-again");
    const args = ["gate", "--baseline", "scored", "--candidate", "scored-again"];
    const verdict = await place.run(args);
    expect(verdict.code).not.toBe(0);
    expect(verdict.stdout).toMatch(/sampled again/);
  });
});
