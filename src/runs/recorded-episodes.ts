/** Trajectories with what their rollout says of the environment and the tasks. */

import { existsSync } from "node:fs";
import path from "node:path";
import { dataError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { COMPLETIONS, SAMPLES, TRAJECTORIES } from "./artifacts.ts";
import type { JudgedRollout } from "./judge-schemas.ts";
import { openTrajectories, type TrajectorySource } from "./trajectory-source.ts";

/** What a rollout's manifest says of its environment. */
export interface RecordedEnvironment {
  readonly name: string;
  readonly version: string;
  readonly source_sha256: string | null;
  /** Null for an embedded one. */
  readonly path: string | null;
}

export interface RecordedEpisodes extends Pick<TrajectorySource, "file" | "failures"> {
  /** Of the rollout in whose folder the file lies; undefined for a file from elsewhere. */
  readonly rollout?: {
    readonly environment: RecordedEnvironment;
    readonly split: string | null;
    /** Outcome codes of a solved task. */
    readonly solved: readonly string[];
    /** Episodes of each task. */
    readonly n: number;
    /** With which they were played. */
    readonly seed: unknown;
    /** Of the tasks, as eval computes it. */
    readonly examples: { readonly count: number; readonly sha256: string } | null;
    /** Whose scores the rewards are, where they are a judge's. */
    readonly judge: JudgedRollout | null;
  };
}

/** Whether a folder holds the trajectories of a rollout. */
export function hasTrajectories(dir: string): boolean {
  return existsSync(path.join(dir, TRAJECTORIES));
}

/** `given` is a rollout's folder, or a file of trajectories. */
export async function findEpisodes(given: string): Promise<RecordedEpisodes> {
  if (!existsSync(given))
    throw dataError(
      `there are no trajectories at ${given}`,
      "Name the folder of a rollout in an environment, or a file of trajectories.",
    );
  const answers = [COMPLETIONS, SAMPLES].find((name) => existsSync(path.join(given, name)));
  if (answers !== undefined)
    throw dataError(
      `${given} has no ${TRAJECTORIES}`,
      `It is a rollout of prompts: its ${answers} is scored with --dataset.`,
    );
  const { file, failures, manifest } = await openTrajectories(given);
  if (!manifest) return { file, failures };
  const { split, solved, n, sampling, examples } = manifest;
  return {
    file,
    failures,
    rollout: {
      environment: environmentIn(manifest, file),
      split: typeof split === "string" ? split : null,
      solved: Array.isArray(solved) ? solved.map(String) : [],
      n: Number.isSafeInteger(n) ? Number(n) : 1,
      seed: isFields(sampling) ? sampling.seed : undefined,
      examples: examplesIn(examples),
      judge: await judgeIn(manifest, file),
    },
  };
}

function environmentIn({ environment }: JsonObject, file: string): RecordedEnvironment {
  const found = isFields(environment) ? environment : {};
  const { name, version, source_sha256: source, path: place } = found;
  if (typeof name !== "string")
    throw dataError(
      `the manifest beside ${file} names no environment`,
      "Make the rollout again with rollout --env.",
    );
  return {
    name,
    version: String(version ?? ""),
    source_sha256: typeof source === "string" ? source : null,
    path: typeof place === "string" ? place : null,
  };
}

async function judgeIn({ judge }: JsonObject, file: string): Promise<JudgedRollout | null> {
  if (judge === undefined) return null;
  // Loaded only here: most rollouts have no judge.
  const { judgedRolloutSchema } = await import("./judge-schemas.ts");
  const found = judgedRolloutSchema.safeParse(judge);
  if (found.success) return found.data;
  throw dataError(
    `the manifest beside ${file} names a judge that cannot be read`,
    "Judge the rollout again with judge score.",
  );
}

function examplesIn(value: unknown) {
  const { count, sha256 } = isFields(value) ? value : {};
  return typeof count === "number" && typeof sha256 === "string" ? { count, sha256 } : null;
}
