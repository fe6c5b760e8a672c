/** A grid over one setting: a training run for each value, and the trade-off between two measures. */

import path from "node:path";
import { chartFiles } from "../charts/index.ts";
import { dataError, usageError } from "../core/errors.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { keptEvaluation } from "../curves/measures.ts";
import {
  type MeasurePair,
  type TradedRun,
  tradeoffChart,
  tradeoffOf,
  USUAL_PAIR,
} from "../curves/tradeoff.ts";
import { checkpointFolder } from "../policy/pi0.ts";
import { sweepFacts } from "../runs/note-facts.ts";
import { readTrainingRun, type TrainingRunRecords } from "../runs/read-training-run.ts";
import { writeNote } from "../runs/run-note.ts";
import { ALL_STEPS_DONE } from "../runs/stop-reasons.ts";
import type { Sweep, SweepPoint, Tradeoff } from "../runs/sweep-schema.ts";
import type { TrainManifest } from "../runs/train-schemas.ts";
import { fileExists, writeWhole } from "../runs/whole-file.ts";
import { algorithmOf } from "./algorithms/index.ts";
import { playableOf } from "./environment-of.ts";
import type { TrainOptions } from "./options.ts";
import { mergeSettings, nested } from "./recipe.ts";
import { idleSettings } from "./settings/unused.ts";
import { trainSettings } from "./settings.ts";
import { requireMeasures, requirePoints } from "./sweep-measures.ts";
import { train } from "./train.ts";

export interface SweepOptions extends TrainOptions {
  /** A setting's name, such as kl.coefficient. */
  readonly over: string;
  readonly values: readonly Json[];
  /** What the trade-off curve shows; validation reward against KL unless set. */
  readonly tradeoff?: MeasurePair | undefined;
  readonly onValue?: ((value: Json, index: number) => void) | undefined;
}

export interface SweepOutcome extends Sweep {
  /** The fingerprint of each point's policy. */
  readonly policies: readonly (string | undefined)[];
  readonly tradeoff: Tradeoff;
  /** The files of the trade-off curve. */
  readonly files: readonly string[];
}

/** Runs that are already finished are kept, so that a sweep can be resumed. */
export async function sweep(options: SweepOptions): Promise<SweepOutcome> {
  const { over, values, tradeoff: measures = USUAL_PAIR, outdir, onValue, ...rest } = options;
  if (!(await hasValidation(options))) {
    throw usageError("a sweep compares validations, and there is no validation set", "Give --dev.");
  }
  if (options.holdout !== undefined) {
    throw usageError(
      "a sweep would use the holdout set once for every value",
      "Choose a value by the validation set, and test that run alone.",
    );
  }
  for (const value of values) refuseIdle(options, nested(over.split("."), value));
  requireMeasures(options, [measures.y, measures.x]);
  const init = checkpointFolder(options.init);
  const points: SweepPoint[] = [];
  const runs: TradedRun[] = [];
  const policies: (string | undefined)[] = [];
  let manifest: TrainManifest | undefined;
  for (const [i, value] of values.entries()) {
    const name = `${over}=${String(value)}`;
    const run = path.join(outdir, name);
    onValue?.(value, i);
    const settings = mergeSettings(options.settings, nested(over.split("."), value));
    if (!options.force && fileExists(path.join(run, "summary.json"))) {
      await refuseOther(run, options.algorithm, settings);
    } else {
      const resume = !options.force && fileExists(path.join(run, "manifest.json"));
      await train({ ...rest, init, outdir: run, settings, resume });
    }
    const done = await readTrainingRun(run);
    manifest = done.manifest;
    points.push(pointOf(done, value));
    runs.push({ value, name, run: done });
    policies.push(done.summary?.checkpoint_fingerprint);
  }
  const { algorithm } = options;
  const found: Sweep = { over, algorithm, points };
  await writeWhole(path.join(outdir, "sweep.json"), `${JSON.stringify(found, null, 2)}\n`);
  const tradeoff = tradeoffOf({ over, algorithm, runs }, measures);
  requirePoints(tradeoff);
  const files = await writeTradeoff(outdir, tradeoff);
  if (manifest) await writeNote(outdir, sweepFacts(found, manifest));
  return { ...found, policies, tradeoff, files };
}

async function hasValidation(options: SweepOptions): Promise<boolean> {
  if (options.dev !== undefined) return true;
  const { evaluate } = trainSettings(algorithmOf(options.algorithm), options.settings);
  const tasks = (await playableOf(options)?.tasks("dev")) ?? [];
  return tasks.length > 0 && evaluate.tasks > 0;
}

async function writeTradeoff(outdir: string, tradeoff: Tradeoff): Promise<string[]> {
  const files = {
    "tradeoff.json": `${JSON.stringify(tradeoff, null, 2)}\n`,
    ...(await chartFiles("tradeoff", tradeoffChart(tradeoff))),
  };
  for (const [name, content] of Object.entries(files)) {
    await writeWhole(path.join(outdir, name), typeof content === "string" ? content : [content]);
  }
  return Object.keys(files);
}

/** All values are checked before the first is trained for. */
function refuseIdle({ algorithm, settings, over }: SweepOptions, own: JsonObject): void {
  const given = mergeSettings(settings, own);
  const { evaluate } = trainSettings(algorithmOf(algorithm), given);
  const idle = idleSettings(algorithmOf(algorithm), given).find(({ name }) => name === over);
  if (idle) {
    throw usageError(idle.because, idle.add ? `Add --set ${idle.add}.` : "Sweep another setting.");
  }
  if (evaluate.every > 0) return;
  throw usageError(
    "a sweep compares validations, and none are asked for",
    "Leave out --eval-every 0.",
  );
}

/** A finished run is kept only if it is of this sweep. */
async function refuseOther(run: string, algorithm: string, given: JsonObject): Promise<void> {
  const { manifest } = await readTrainingRun(run);
  const { length: _, ...before } = manifest.settings as JsonObject;
  const now = JSON.parse(JSON.stringify(trainSettings(algorithmOf(algorithm), given)));
  if (manifest.algorithm === algorithm && canonicalJson(before) === canonicalJson(now)) return;
  throw usageError(
    `${run} is a finished run with other settings`,
    "Choose another --outdir, or replace it with --force.",
  );
}

/** Of the policy that the run kept. */
function pointOf(done: TrainingRunRecords, value: Json): SweepPoint {
  const { dir: run, summary } = done;
  const kept = keptEvaluation(done);
  if (!kept) throw dataError(`${run} has no evaluation`, "Run it again with --force.");
  const { pass_rate, reward_mean, proxy_mean, entropy, length_mean } = kept;
  const reason = summary?.stop?.reason;
  return {
    value: value as SweepPoint["value"],
    ...{ run, pass_rate, reward_mean, proxy_mean, entropy, length_mean },
    kl_exact: kept.kl_exact,
    stopped_by: reason === undefined || reason === ALL_STEPS_DONE ? null : reason,
  };
}
