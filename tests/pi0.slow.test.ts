/** The embedded policy π₀: what it is, what it learned from, and that all three loops take it as it is. */

import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { SeenPrompts } from "../src/core/policy.ts";
import { keyOf } from "../src/datasets/problems.ts";
import { heldOutProblems } from "../src/datasets/splits.ts";
import { loadCheckpoint } from "../src/policy/checkpoint.ts";
import { DEV, describeRun, EXIT, expectError, ROOT, Workspace } from "./cli.ts";

const PI0 = path.join(ROOT, "assets/pi0");
const TRAIN = path.join(ROOT, "data/datasets/math_train.jsonl");
const FEW = readFileSync(DEV, "utf8")
  .split("\n", 3)
  .map((line) => JSON.parse(line));
const SAMPLING = ["--temperature", "1", "--max-tokens", "32"];

test("is at most 1 MB, and says what it was trained on", async () => {
  const bytes = readdirSync(PI0).reduce((sum, name) => sum + statSync(`${PI0}/${name}`).size, 0);
  expect(bytes).toBeLessThanOrEqual(1_000_000);
  const shown = await new Workspace().run(["policy", "show", "pi0"]);
  expect(shown, describeRun(shown)).toMatchObject({ code: EXIT.ok });
  expect(shown.stdout).toMatch(/sft/);
});

describe("the word pi0", () => {
  /** Everything that takes a checkpoint, with the files it needs besides. */
  const takers = (policy: string) => [
    ["policy", "show", policy],
    ["policy", "export", policy, "--outfile", "p.onnx"],
    ["policy", "merge", policy, "adapter", "--outdir", "merged"],
    ["serve", "--policy", policy],
    ["rollout", "--policy", policy, "--dataset", DEV, "--n", "1", "--outdir", "r"],
    ["train", "grpo", "--init", policy, "--dataset", DEV, "--steps", "1", "--outdir", "t"],
    [
      ...["sweep", "grpo", "--init", policy, "--dataset", TRAIN, "--dev", DEV, "--steps", "1"],
      ...["--over", "seed=1,2", "--outdir", "s"],
    ],
  ];

  test("names it from any folder, and a rollout is the same as with its path", async () => {
    const place = new Workspace();
    const dataset = place.jsonl("d.jsonl", FEW);
    const manifests = [];
    for (const [policy, outdir] of [
      ["pi0", "word"],
      [PI0, "path"],
    ] as const) {
      const flags = ["--dataset", dataset, "--n", "1", ...SAMPLING, "--outdir", outdir];
      const made = await place.run(["rollout", "--policy", policy, ...flags]);
      expect(made, describeRun(made)).toMatchObject({ code: EXIT.ok, stderr: "" });
      const { volatile: _, ...fixed } = JSON.parse(place.read(outdir, "manifest.json"));
      manifests.push(fixed);
    }
    expect(manifests[0]).toEqual(manifests[1]);
    expect(place.read("word/manifest.json")).not.toContain(ROOT);
    expect(place.read("word/completions.jsonl")).toBe(place.read("path/completions.jsonl"));
  });

  test("is protected like its path", async () => {
    const args = ["policy", "merge", "pi0", "nowhere", "--outdir", PI0, "--force"];
    expectError(await new Workspace().run(args), EXIT.usage, "is an input of the merge");
  });

  test("is refused where something else has that name; a path is not", async () => {
    const place = new Workspace();
    cpSync(PI0, place.path("pi0"), { recursive: true });
    for (const args of takers("pi0")) {
      const says = ["there is a pi0 here too", "./pi0", PI0];
      expectError(await place.run(args), EXIT.usage, ...says);
    }
    expect(readdirSync(place.dir)).toEqual(["pi0"]);
    const shown = await place.run(["policy", "show", "./pi0"]);
    expect(shown, describeRun(shown)).toMatchObject({ code: EXIT.ok, stderr: "" });
  });

  test("is mentioned when another word names nothing", async () => {
    for (const args of takers("pi1")) {
      const says = ["there is no folder pi1", "pi0 names the embedded policy"];
      expectError(await new Workspace().run(args), EXIT.data, ...says);
    }
  });
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

  const { learned, validated } = (await loadCheckpoint(PI0)).seen as SeenPrompts;
  expect([...measured].filter((prompt) => learned.has(prompt))).toEqual([]);
  expect(validated.size).toBe(0);
  for (const stage of [1, 2]) {
    for (let i = 0; i < 200; i++) {
      const { prompt, completion } = textAt(stage, i);
      expect(learned.has(prompt) && learned.has(completion), prompt).toBe(true);
    }
  }
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
      ...["rollout", "--policy", "pi0", "--dataset", DEV, "--n", String(n), ...SAMPLING],
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
    expect(at(8)).toBeGreaterThanOrEqual(0.85);

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
