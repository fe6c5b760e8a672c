/** The trajectories that somebody names: a rollout folder, or a file. */

import { statSync } from "node:fs";
import path from "node:path";
import { dataError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { RolloutFailure } from "../core/trajectory.ts";
import { FAILURES, TRAJECTORIES } from "./artifacts.ts";
import { rolloutFailureSchema } from "./episode-schema.ts";
import { contentOf, requireFinished, requireKind } from "./folder-kind.ts";
import { JsonlFile } from "./jsonl.ts";
import { fileExists, parseWith } from "./whole-file.ts";

export interface TrajectorySource {
  readonly file: string;
  /** Held in memory: an exception budget keeps them few. */
  readonly failures: readonly RolloutFailure[];
  /** Undefined where no rollout of ours says what the file is. */
  readonly manifest: JsonObject | undefined;
}

export async function openTrajectories(given: string): Promise<TrajectorySource> {
  const folder = statSync(given, { throwIfNoEntry: false })?.isDirectory() === true;
  if (folder) return openFolder(given);
  if (path.basename(given) !== TRAJECTORIES) {
    return { file: given, failures: [], manifest: undefined };
  }
  const dir = path.dirname(given);
  const { kind, manifest } = await contentOf(dir);
  const failures = await readFailures(path.join(dir, FAILURES));
  return { file: given, failures, manifest: kind === "rollout" ? manifest : undefined };
}

async function openFolder(dir: string): Promise<TrajectorySource> {
  const content = await requireKind(dir, ["rollout"]);
  if (content.kind !== undefined) requireFinished(dir, content);
  const file = path.join(dir, TRAJECTORIES);
  if (!fileExists(file)) {
    throw dataError(
      `${dir} has no ${TRAJECTORIES}`,
      "Trajectories are made by rollout --env, in an environment.",
    );
  }
  const failures = await readFailures(path.join(dir, FAILURES));
  return { file, failures, manifest: content.manifest };
}

async function readFailures(file: string): Promise<RolloutFailure[]> {
  if (!fileExists(file)) return [];
  const found: RolloutFailure[] = [];
  const lines = new JsonlFile(file, (fields) => parseWith(rolloutFailureSchema, fields), {
    regular: true,
  });
  for await (const batch of lines.batches()) found.push(...batch);
  return found;
}
