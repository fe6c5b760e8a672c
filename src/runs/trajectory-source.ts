/** The trajectories that a command is given: a rollout's folder, or a file of them. */

import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { dataError } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import type { RolloutFailure } from "../core/trajectory.ts";
import { COMPLETIONS, FAILURES, SAMPLES, TRAJECTORIES } from "./artifacts.ts";
import { rolloutFailureSchema } from "./episode-schema.ts";
import { contentOf, requireFinished, requireKind } from "./folder-kind.ts";
import { JsonlFile } from "./jsonl.ts";
import { parseWith } from "./whole-file.ts";

/** What a rollout's manifest says of its environment. */
export interface RecordedEnvironment {
  readonly name: string;
  readonly version: string;
  readonly source_sha256: string | null;
  /** Null for an embedded one. */
  readonly path: string | null;
}

export interface TrajectorySource {
  readonly file: string;
  readonly failures: readonly RolloutFailure[];
  /** Of the rollout in whose folder the file lies; undefined for a file from elsewhere. */
  readonly rollout?: {
    readonly dir: string;
    readonly environment: RecordedEnvironment;
    readonly split: string | null;
    /** Outcome codes of a solved task. */
    readonly solved: readonly string[];
    /** Episodes of each task. */
    readonly n: number;
    /** Of the tasks, as eval computes it. */
    readonly examples: { readonly count: number; readonly sha256: string } | null;
  };
}

/** Whether a folder holds the trajectories of a rollout. */
export function hasTrajectories(dir: string): boolean {
  return existsSync(path.join(dir, TRAJECTORIES));
}

export async function findTrajectories(given: string): Promise<TrajectorySource> {
  const found = statSync(given, { throwIfNoEntry: false });
  if (!found)
    throw dataError(
      `there are no trajectories at ${given}`,
      "Name the folder of a rollout in an environment, or a file of trajectories.",
    );
  if (found.isDirectory()) return inFolder(given);
  const dir = path.dirname(given);
  const isOfRollout = path.basename(given) === TRAJECTORIES && (await isRollout(dir));
  return isOfRollout ? { ...(await described(dir)), file: given } : { file: given, failures: [] };
}

async function isRollout(dir: string): Promise<boolean> {
  const { kind, summary } = await contentOf(dir);
  return kind === "rollout" && summary !== undefined;
}

async function inFolder(dir: string): Promise<TrajectorySource> {
  const content = await requireKind(dir, ["rollout"]);
  requireFinished(dir, content);
  if (hasTrajectories(dir)) return described(dir);
  const answers = [COMPLETIONS, SAMPLES].find((name) => existsSync(path.join(dir, name)));
  throw dataError(
    `${dir} has no ${TRAJECTORIES}`,
    answers === undefined
      ? "Name the folder of a rollout in an environment: rollout --env NAME."
      : `It is a rollout of prompts: eval scores its ${answers} with --dataset and --completions.`,
  );
}

async function described(dir: string): Promise<TrajectorySource> {
  const { manifest = {} } = await contentOf(dir);
  const { environment, split, solved, n, examples } = manifest as Record<string, unknown>;
  return {
    file: path.join(dir, TRAJECTORIES),
    failures: await readFailures(path.join(dir, FAILURES)),
    rollout: {
      dir,
      environment: environmentIn(environment, dir),
      split: typeof split === "string" ? split : null,
      solved: Array.isArray(solved) ? solved.map(String) : [],
      n: Number.isSafeInteger(n) ? Number(n) : 1,
      examples: examplesIn(examples),
    },
  };
}

function environmentIn(value: unknown, dir: string): RecordedEnvironment {
  const { name, version, source_sha256: source, path: file } = isFields(value) ? value : {};
  if (typeof name !== "string")
    throw dataError(`the manifest of ${dir} names no environment`, "Run the rollout again.");
  return {
    name,
    version: String(version ?? ""),
    source_sha256: typeof source === "string" ? source : null,
    path: typeof file === "string" ? file : null,
  };
}

function examplesIn(value: unknown) {
  const { count, sha256 } = isFields(value) ? value : {};
  return typeof count === "number" && typeof sha256 === "string" ? { count, sha256 } : null;
}

async function readFailures(file: string): Promise<RolloutFailure[]> {
  if (!existsSync(file)) return [];
  const failures: RolloutFailure[] = [];
  const lines = new JsonlFile(file, (fields) => parseWith(rolloutFailureSchema, fields));
  for await (const batch of lines.batches()) failures.push(...batch);
  return failures;
}
