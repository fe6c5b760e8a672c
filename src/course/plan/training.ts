/** A training run as it lies in a workspace, with the policy that came out of it. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { ZodType } from "zod";
import { canonicalJson, dataError } from "../../core/index.ts";
import { loadCheckpoint } from "../../policy/index.ts";
import {
  readTrainingRun,
  type TrainingRun,
  type TrainManifest,
  type TrainSummary,
  trainManifestSchema,
  trainSummarySchema,
} from "../../runs/index.ts";

export interface Training {
  /** From the workspace's root: runs/dpo. */
  readonly path: string;
  readonly manifest: TrainManifest;
  readonly summary: TrainSummary;
  readonly records: TrainingRun;
}

export async function readTraining(dir: string, name: string): Promise<Training> {
  const folder = path.join(dir, name);
  if (!existsSync(path.join(folder, "summary.json")))
    throw dataError("It is unfinished: go on with it by the same command with --resume.");
  const records = await readTrainingRun(folder);
  const manifest = await whole(path.join(folder, "manifest.json"), trainManifestSchema);
  const summary = await whole(path.join(folder, "summary.json"), trainSummarySchema);
  return { path: name, manifest, summary, records };
}

async function whole<T>(file: string, schema: ZodType<T>): Promise<T> {
  const { success, data } = schema.safeParse(JSON.parse(await readFile(file, "utf8")));
  if (success) return data;
  throw dataError(`It was edited: ${path.basename(file)} is not as a training writes it.`);
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
