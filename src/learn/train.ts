/**
 * The one training loop. Every method goes through it: a source gives rows, an engine learns from
 * them, a watch checks the figures, and at intervals the policy is measured on held-out examples. The
 * loop never asks which algorithm it runs.
 */

import { continuable, LockedRoomError, messageOf } from "../core/errors.ts";
import { isBudget } from "../runs/stop-reasons.ts";
import type { StepRecord } from "../runs/train-records.ts";
import { algorithmOf } from "./algorithms/index.ts";
import { judgedSettings } from "./judged/settings.ts";
import type { TrainedPolicy, TrainOptions } from "./options.ts";
import { sabotageOf } from "./sabotage.ts";
import { trainSettings } from "./settings.ts";
import type { Stop } from "./stop-conditions.ts";
import { Training } from "./training.ts";
import { rateAt, updateOn } from "./update.ts";

/**
 * Loop C: trains a policy with any algorithm and writes a checkpoint. Needs `onnxruntime-node`.
 * @example
 * ```ts
 * import { openScorer, train } from "lockedroom";
 * const scorer = await openScorer();
 * const { checkpoint, summary } = await train({
 *   algorithm: "grpo",
 *   dataset: "dataset.jsonl",
 *   ...{ init: "pi0", size: "nano", threads: 1, saveEvery: 100 },
 *   settings: { steps: 1, rollouts: { prompts: 2, group: 4 } },
 *   outdir: "runs/grpo",
 *   rewards: [scorer],
 * });
 * console.log(checkpoint, summary.steps);
 * await scorer.close();
 * ```
 */
export async function train(options: TrainOptions): Promise<TrainedPolicy> {
  const named = algorithmOf(options.algorithm);
  const settings = judgedSettings(trainSettings(named, options.settings), options);
  const algorithm = sabotageOf(settings.sabotage).algorithm?.(named) ?? named;
  const run = await Training.open(options, algorithm, settings);
  try {
    if (run.step === 0) await run.validate();
    let stopped: Stop | undefined;
    while (run.step < settings.steps && !stopped) {
      const record = await withinMemory(run.step + 1, () => step(run));
      run.requireVerdicts();
      stopped = await check(run);
      // A saved state knows of its alarms: resumed, a run that was stopped would not stop again.
      if (!stopped) await run.save();
      options.onStep?.(run.step, record);
    }
    return await run.finish(stopped);
  } catch (error) {
    await run.leave();
    throw error instanceof LockedRoomError && error.kind === "io"
      ? continuable(error, "Then go on with the same command and --resume.")
      : error;
  }
}

/** Rows, an update, and a record of both. */
async function step(run: Training): Promise<StepRecord> {
  const { settings, source, engine, plan, watch } = run;
  const count = run.step + 1;
  const rate = rateAt(count, settings.steps, settings.rate);
  const batch = await source.batch(count);
  const started = performance.now();
  const update = await updateOn(engine, plan, batch, count, rate);
  const { loss, gradientNorm, tokens, metrics, usedShare } = update;
  if (watch.exploded(update)) throw run.explosion(count, loss);
  const known = { step: count, loss, gradient_norm: gradientNorm, learning_rate: rate, tokens };
  const { outcomes } = batch;
  run.sampled = batch.samples ?? [];
  return run.record(
    { ...metrics, ...batch.metrics, ...known, ...(outcomes && { outcomes }) },
    { ...batch.seconds, updating: (performance.now() - started) / 1000, usedShare },
  );
}

/** Validates when it is time to, and raises alarms; returns why the run ends now. */
async function check(run: Training): Promise<Stop | undefined> {
  const { settings } = run;
  const { every } = settings.evaluate;
  const isDue = every > 0 && (run.step % every === 0 || run.step === settings.steps);
  if (isDue) await run.validate();
  const alarms = run.watch.alarms();
  for (const alarm of alarms) await run.raise(alarm);
  const serious = settings.alarms_stop ? alarms.find(({ stops }) => stops) : undefined;
  if (serious) return { reason: serious.alarm, message: serious.message };
  if (run.step === settings.steps) return undefined;
  const stop = run.stop();
  // A budget ends the run between two validations: the last policy may be the best.
  if (stop && isBudget(stop.reason) && !isDue) await run.validate();
  return stop;
}

/** The runtime's own words about memory do not say what to do. */
async function withinMemory<T>(count: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LockedRoomError || !/alloc|memory/i.test(messageOf(error))) throw error;
    throw new LockedRoomError("usage", `the batch of step ${count} does not fit into memory`, {
      hint: "Set micro_batch_size to compute it in parts, lower the batch, or train a smaller policy.",
      cause: error,
    });
  }
}
