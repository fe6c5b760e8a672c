/** Writes the trajectories of a rollout in another format, a task at a time. */

import type { Tool } from "../core/environment.ts";
import { usageError } from "../core/errors.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import type { TrajectoryGroup } from "../core/trajectory.ts";
import type { ReadOptions } from "../runs/jsonl.ts";
import { packageVersion } from "../runs/manifest.ts";
import { readTrajectories } from "../runs/trajectory-schema.ts";
import { openTrajectories } from "../runs/trajectory-source.ts";
import { realPath } from "../runs/whole-file.ts";
import { writeLines } from "../runs/whole-lines.ts";
import type { ExportContext, TrajectoryFormat } from "./format.ts";
import { groupsOf } from "./groups.ts";

export interface ExportOptions {
  /** Replace a file that is there. */
  readonly force?: boolean | undefined;
  readonly onBytes?: ReadOptions["onBytes"];
}

export interface Exported {
  readonly format: string;
  readonly outfile: string;
  readonly sha256: string;
  readonly lines: number;
  readonly trajectories: number;
  /** Those without a reward. */
  readonly unscored: number;
  readonly failures: number;
  /** Whether the failures are in the file. */
  readonly failures_written: boolean;
}

/** `given` is a rollout folder or its trajectories.jsonl. */
export async function exportTrajectories(
  given: string,
  format: TrajectoryFormat,
  outfile: string,
  { force, onBytes }: ExportOptions = {},
): Promise<Exported> {
  const { file, failures, manifest } = await openTrajectories(given);
  if (realPath(outfile) === realPath(file)) {
    throw usageError(`${outfile} is the file to export`, "Choose another --outfile.");
  }
  const context = contextOf(manifest);
  const counts = { trajectories: 0, unscored: 0 };
  const source = readTrajectories(file, { onBytes });
  const groups = groupsOf(source.batches(), failures, { together: format.grouped, label: file });
  const { sha256, lines } = await writeLines(outfile, force, linesOf(groups));
  return {
    ...{ format: format.name, outfile, sha256, lines, ...counts },
    ...{ failures: failures.length, failures_written: format.holdsFailures },
  };

  async function* linesOf(all: AsyncIterable<TrajectoryGroup>) {
    for await (const group of all) {
      counts.trajectories += group.trajectories.length;
      counts.unscored += group.trajectories.filter(({ reward }) => reward === null).length;
      for (const record of format.write(group, context)) yield canonicalJson(record);
    }
  }
}

/** What the manifest of the rollout says of all its episodes. */
export function contextOf(manifest: JsonObject | undefined): ExportContext {
  const { tools, environment, policy } = manifest ?? {};
  return {
    tools: Array.isArray(tools) ? (tools as unknown as Tool[]) : [],
    environment: nameOf(environment),
    policy: nameOf(policy) ?? checkpointName(policy),
    version: packageVersion(),
  };
}

/** A checkpoint is known by the fingerprint of its weights. */
function checkpointName(policy: unknown): string | null {
  const fingerprint = isFields(policy) ? policy.fingerprint : undefined;
  return typeof fingerprint === "string" ? `checkpoint:${fingerprint}` : null;
}

function nameOf(identity: unknown): string | null {
  return isFields(identity) && typeof identity.name === "string" ? identity.name : null;
}
