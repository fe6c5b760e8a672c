/** The last experiment of the tour: trains a small policy for a minute and compares it with the gate. */

import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { GuardedScorer } from "../core/score.ts";
import { gate } from "../gate/gate.ts";
import { loadRuntime } from "../graph/session.ts";
import { train } from "../learn/train.ts";
import { evaluate } from "../loops/eval.ts";
import { rollout } from "../loops/rollout.ts";
import { openEmbeddedPolicy } from "../policy/embedded.ts";
import { PI0 } from "../policy/pi0.ts";
import { trainingReport } from "../report/training/report.ts";
import { TrainingProgress } from "./training-progress.ts";

const HOME = fileURLToPath(new URL("../../", import.meta.url));
const TRAIN = path.join(HOME, "data/datasets/math_train.jsonl");
const DEV = path.join(HOME, "data/datasets/math_dev.jsonl");
const HOLDOUT = path.join(HOME, "data/datasets/math_holdout.jsonl");
const STEPS = 20;

/** Whether the engine is installed. */
export async function canLearn(): Promise<boolean> {
  return loadRuntime().then(
    () => true,
    () => false,
  );
}

/** Returns the verdict of the gate and the path of the report. */
export async function learn(outdir: string, scorer: GuardedScorer) {
  const progress = new TrainingProgress(false, { lines: false });
  const settings = { steps: STEPS, rate: { peak: 0.0003 } };
  const run = path.join(outdir, "grpo");
  const { checkpoint } = await train({
    ...{ algorithm: "grpo", dataset: TRAIN, dev: DEV, init: PI0, size: "nano", outdir: run },
    ...{ rewards: [scorer], threads: 1, saveEvery: STEPS },
    settings,
    ...progress.listeners({ steps: STEPS, batch: 1 }),
  }).finally(() => progress.stop());
  const verdict = await gate({
    baseline: await evaluated(PI0, path.join(outdir, "pi0"), scorer),
    candidate: await evaluated(checkpoint, path.join(outdir, "learned"), scorer),
    claim: "policy",
  });
  const report = path.join(outdir, "report.html");
  const { html } = await trainingReport({ runs: [run] });
  await writeFile(report, html);
  return { verdict, report };
}

/** Samples and scores one completion per holdout problem at temperature 1; returns the run folder. */
async function evaluated(
  checkpoint: string,
  outdir: string,
  scorer: GuardedScorer,
): Promise<string> {
  const policy = await openEmbeddedPolicy(checkpoint, {
    sampling: { temperature: 1, top_k: 0, top_p: 1, max_tokens: 32, stop: [], seed: 0 },
    threads: 1,
  });
  const sampled = `${outdir}-rollout`;
  try {
    await rollout({ policy, dataset: HOLDOUT, n: 1, outdir: sampled });
  } finally {
    await policy.close();
  }
  const completions = path.join(sampled, "completions.jsonl");
  const { dir } = await evaluate({ dataset: HOLDOUT, completions, outdir, scorer });
  return dir;
}
