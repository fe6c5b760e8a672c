/**
 * The one training loop. Every method goes through it: rows come from a source, an update moves the
 * policy, the watchman looks at what happened, and now and then the policy is measured on examples
 * that it does not learn from. The loop never asks which algorithm it runs.
 */

import { LockedRoomError, messageOf } from "../core/errors.ts";
import { watch } from "./alarms/index.ts";
import { algorithmOf } from "./algorithms/index.ts";
import type { TrainedPolicy, TrainOptions } from "./options.ts";
import { rateAt } from "./parts/schedule.ts";
import type { Alarm, StepRecord } from "./records.ts";
import { rateSign } from "./sabotage.ts";
import { trainSettings } from "./settings.ts";
import { exploded, TrainingRun } from "./training-run.ts";

/**
 * Loop C: trains a policy by any of the algorithms and writes a checkpoint. Needs `onnxruntime-
 * node`.
 *
 * @example
 * ```ts
 * import { openScorer, train } from "lockedroom";
 *
 * const scorer = await openScorer();
 * const { checkpoint, summary } = await train({
 *   algorithm: "grpo",
 *   dataset: "dataset.jsonl",
 *   init: "pi0",
 *   size: "nano",
 *   settings: { steps: 1, rollouts: { prompts: 2, group: 4 } },
 *   outdir: "runs/grpo",
 *   rewards: [scorer],
 *   threads: 1,
 *   saveEvery: 100,
 * });
 * console.log(checkpoint, summary.steps);
 * await scorer.close();
 * ```
 */
export async function train(options: TrainOptions): Promise<TrainedPolicy> {
  const algorithm = algorithmOf(options.algorithm);
  const settings = trainSettings(algorithm, options.settings);
  const run = await TrainingRun.open(options, algorithm, settings);
  try {
    if (run.step === 0) await run.evaluate();
    let stopped: Alarm | undefined;
    while (run.step < settings.steps && !stopped) {
      const record = await enough(run.rows, () => step(run));
      stopped = await look(run);
      // A saved position knows of its alarms: gone on with, a run that ended would not end again.
      if (!stopped) await run.save();
      options.onStep?.(run.step, record);
    }
    return await run.finish(stopped);
  } catch (error) {
    await run.leave();
    throw error;
  }
}

/** Rows, a move, and a record of both. */
async function step(run: TrainingRun): Promise<StepRecord> {
  const { settings, source, updater, memory } = run;
  const count = run.step + 1;
  const rate = rateAt(count, settings.steps, settings.rate);
  const coefficient = (memory.kl_coefficient as number | undefined) ?? settings.kl.coefficient;
  const { rows, record, outcomes, seconds } = await source.batch(count);
  const started = performance.now();
  const moved = await updater.update(rows, count, rateSign(settings.sabotage) * rate, coefficient);
  const { loss, gradient_norm, tokens, record: watched } = moved;
  const known = { step: count, loss, gradient_norm, learning_rate: rate, tokens };
  if (exploded(moved, run.history.steps[0])) throw run.explosion(count, loss);
  return run.record(
    { ...watched, ...record, ...known, ...(outcomes && { outcomes }) },
    { ...seconds, updating: (performance.now() - started) / 1000 },
  );
}

/** Measures when it is time to, and asks the watchman; gives the alarm that ends the run. */
async function look(run: TrainingRun): Promise<Alarm | undefined> {
  const { settings } = run;
  const { every } = settings.evaluate;
  if (every > 0 && (run.step % every === 0 || run.step === settings.steps)) await run.evaluate();
  const alarms = watch(run.history, run.limits, run.raised);
  for (const alarm of alarms) await run.raise(alarm);
  return settings.alarms_stop ? alarms.find(({ stops }) => stops) : undefined;
}

/** The runtime's own words about memory help nobody. */
async function enough<T>(rows: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LockedRoomError || !/alloc|memory/i.test(messageOf(error))) throw error;
    throw new LockedRoomError("usage", `a batch of ${rows} rows does not fit into memory`, {
      hint: "Set micro_batch_size to compute it in parts, lower the batch, or train a smaller policy.",
      cause: error,
    });
  }
}
