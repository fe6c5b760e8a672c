/** The recipes of environments in a few steps: scripted play, a start policy, training, holdout, the gate. */

import { rmSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
// @ts-expect-error plain JavaScript
import { gateDecision, lockedroom, playHoldout, readJson, runFolder } from "../recipes/lib.mjs";
// @ts-expect-error plain JavaScript
import { makeStart, startOf, storedStart } from "../recipes/start-policy.mjs";
import { loadCheckpoint } from "../src/policy/checkpoint.ts";
import { ROOT } from "./cli.ts";

/** A few texts and updates in place of the recipe's. */
const RECIPES = [
  ["tool-calls", { texts: 200, steps: 4 }, 48],
  ["twenty48", { texts: [2000, 1000], steps: [4, 2] }, 4],
  ["email-search", { texts: 100, steps: 3 }, 64],
] as const;

const WORK = "smoke";
const LIMIT_MS = 300_000;
afterAll(() => rmSync(path.join(ROOT, "runs/recipes", WORK), { recursive: true, force: true }));

test.each(RECIPES)(
  "%s makes a start policy from scripted play",
  { timeout: LIMIT_MS },
  async (name, few) => {
    const { startSettings } = await import(`../recipes/${name}/start-settings.mjs`);
    const settings = { ...(await startSettings(few)), name: path.join(WORK, name), threads: 1 };
    const { checkpoint, seconds } = await makeStart(settings);
    expect(seconds).toBeGreaterThan(0);
    const made = await loadCheckpoint(path.join(ROOT, checkpoint));
    const stored = await loadCheckpoint(path.join(ROOT, storedStart(name)));
    // The vocabulary may be smaller, as there are fewer texts.
    const shape = { ...stored.architecture, vocabulary: made.architecture.vocabulary };
    expect(made.architecture).toEqual(shape);
    expect(made.fingerprint).not.toBe(stored.fingerprint);
  },
);

test.each(RECIPES)(
  "%s trains, plays holdout tasks and asks the gate",
  { timeout: LIMIT_MS },
  (name, _few, maxTokens) => {
    const folder = path.join(WORK, name);
    const start = startOf(name, folder);
    const run = runFolder(folder, "train");
    lockedroom(
      ...["train", "grpo", "--env", name, "--init", start, "--outdir", run, "--steps", 1],
      ...["--config", `recipes/${name}/recipe.yaml`, "--set", "rollouts.prompts=2"],
      ...["--set", "rollouts.group=4", "--eval-every", 0],
    );
    const [before, after] = [start, path.join(run, "checkpoint")].map((policy, i) =>
      playHoldout(path.join(folder, `${i}`), policy, { env: name, maxTokens, tasks: 12 }),
    );
    expect(readJson(before, "summary.json").metrics.n_examples).toBe(12);
    // One update is no improvement that twelve tasks could show, but it is another policy.
    expect(gateDecision(before, after)).toEqual({ decision: "INCONCLUSIVE", knobs: ["policy"] });
  },
);
