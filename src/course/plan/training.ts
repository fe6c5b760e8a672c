/** A training run as it lies in a workspace, with the policy that came out of it. */

import { existsSync } from "node:fs";
import path from "node:path";
import {
  canonicalJson,
  dataError,
  loadCheckpoint,
  readTrainingRun,
  type TrainingRunRecords,
  type TrainManifest,
  type TrainSummary,
} from "../../index.ts";

export interface Training {
  /** From the workspace's root: runs/dpo. */
  readonly path: string;
  readonly manifest: TrainManifest;
  readonly summary: TrainSummary;
  readonly records: TrainingRunRecords;
}

export async function readTraining(dir: string, name: string): Promise<Training> {
  const folder = path.join(dir, name);
  if (!existsSync(path.join(folder, "summary.json")))
    throw dataError("It is unfinished: go on with it by the same command with --resume.");
  const records = await readTrainingRun(folder);
  return {
    path: name,
    manifest: records.manifest,
    summary: records.summary as TrainSummary,
    records,
  };
}

/** The policy that came out of it is there, and says of itself what the run says. */
export async function problemInCheckpoint(
  dir: string,
  { path: name, manifest, summary }: Training,
): Promise<string | undefined> {
  const found = await loadCheckpoint(path.join(dir, name, "checkpoint"));
  const { checkpoint_fingerprint: print, stop, holdout } = summary;
  if (found.fingerprint !== print) return "Its checkpoint is not the one that it wrote.";
  if (stop.kept > 0 && print === manifest.init_fingerprint)
    return "Its policy is still the one that it began with.";
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
  return agrees ? undefined : "Its checkpoint says that it was trained in another way.";
}
