/** A training run of a workspace, with its checkpoint. */

import { existsSync } from "node:fs";
import path from "node:path";
import { canonicalJson, dataError } from "../../core/index.ts";
import { loadCheckpoint } from "../../policy/index.ts";
import {
  readTrainingRun,
  type TrainingRunRecords,
  type TrainManifest,
  type TrainSummary,
} from "../../runs/index.ts";

export interface Training {
  /** Workspace path: runs/dpo. */
  readonly path: string;
  readonly manifest: TrainManifest;
  readonly summary: TrainSummary;
  readonly records: TrainingRunRecords;
}

export async function readTraining(dir: string, name: string): Promise<Training> {
  const folder = path.join(dir, name);
  if (!existsSync(path.join(folder, "summary.json")))
    throw dataError("It is not finished: run the same command with --resume.");
  const records = await readTrainingRun(folder);
  return {
    path: name,
    manifest: records.manifest,
    summary: records.summary as TrainSummary,
    records,
  };
}

/** The checkpoint is there and agrees with the run. */
export async function problemInCheckpoint(
  dir: string,
  { path: name, manifest, summary }: Training,
): Promise<string | undefined> {
  const found = await loadCheckpoint(path.join(dir, name, "checkpoint"));
  const { checkpoint_fingerprint: print, stop, holdout } = summary;
  if (found.fingerprint !== print) return "Its checkpoint is not the one that the run wrote.";
  if (stop.kept > 0 && print === manifest.init_fingerprint)
    return "Its policy equals the initial policy.";
  const { length: _, ...settings } = manifest.settings;
  const expected = {
    algorithm: manifest.algorithm,
    step: stop.kept,
    settings,
    inputs: manifest.inputs.map(({ role, sha256, rows }) => ({ role, sha256, rows })),
    scorers: manifest.scorers
      .filter(({ role }) => role !== "validation")
      .map(({ identity: { name: named, version, source_sha256 } }) => ({
        ...{ name: named, version, source_sha256 },
      })),
    from: manifest.init_fingerprint ?? "scratch",
    holdout_evaluations: holdout.before + holdout.evaluations,
  };
  const agrees = Object.entries(expected).every(
    ([key, value]) => canonicalJson(found.trained?.[key] ?? null) === canonicalJson(value),
  );
  return agrees ? undefined : "Its checkpoint records another training.";
}
