/**
 * A trajectory format of another library. What the format has no place for goes into it all the same,
 * as a JSON Patch under the key `lockedroom`, so that a file can be read back without loss.
 */

import type { Tool } from "../core/environment.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { RolloutFailure, Trajectory, TrajectoryGroup } from "../core/trajectory.ts";
import { difference, patched, readPatch } from "./json-patch.ts";

/** What the episodes of a file have in common. */
export interface ExportContext {
  readonly tools: readonly Tool[];
  /** Names; null where they are not known. */
  readonly environment: string | null;
  readonly policy: string | null;
  /** Of this program. */
  readonly version: string;
}

/** Where a record stands that is being read. */
export interface Place {
  readonly line: number;
  /** The next sample number of a task, where the file does not say it. */
  nextSample(id: string): number;
}

export interface Imported {
  readonly trajectories: readonly Trajectory[];
  readonly failures: readonly RolloutFailure[];
  /** How many of the trajectories another program wrote. */
  readonly foreign: number;
}

export interface TrajectoryFormat {
  readonly name: string;
  /** For the help. */
  readonly about: string;
  /** Whether all episodes of a task are one line. */
  readonly grouped: boolean;
  readonly holdsFailures: boolean;
  /** What files of other programs do not say, and what stands in its place. */
  readonly missing: string;
  write(group: TrajectoryGroup, context: ExportContext): readonly JsonObject[];
  read(record: JsonObject, place: Place): Imported;
}

/** One episode in a format. */
export interface EpisodeCoding {
  encode(trajectory: Trajectory, context: ExportContext): JsonObject;
  /** What the format itself says. */
  decode(record: JsonObject, place: Place): Trajectory;
  /** The record with what `decode` does not give back. */
  withRest(record: JsonObject, rest: JsonObject): JsonObject;
  /** Undefined in a record of another program. */
  restOf(record: JsonObject): unknown;
}

/** The key of everything that only this program reads. */
export const OWN = "lockedroom";

/** Values of what a file does not say. */
export const UNSAID = { code: "imported", terminated: false, finish: "unknown" } as const;

/** No sample has this number: what a record does not say itself is always part of the rest. */
const NOWHERE: Place = { line: 0, nextSample: () => -1 };

export function encodeEpisode(
  coding: EpisodeCoding,
  trajectory: Trajectory,
  context: ExportContext,
): JsonObject {
  const record = coding.encode(trajectory, context);
  const carried = coding.decode(record, NOWHERE);
  const patch = difference(asJson(carried), asJson(trajectory));
  return coding.withRest(record, { patch: patch as unknown as Json });
}

export function decodeEpisode(
  coding: EpisodeCoding,
  record: JsonObject,
  place: Place,
): { readonly trajectory: Trajectory; readonly foreign: boolean } {
  const carried = coding.decode(record, place);
  const rest = coding.restOf(record);
  if (rest === undefined) return { trajectory: carried, foreign: true };
  try {
    const { patch } = rest as { patch?: unknown };
    const trajectory = patched(asJson(carried), readPatch(patch)) as unknown as Trajectory;
    return { trajectory, foreign: false };
  } catch (error) {
    throw new TypeError(
      `its part "${OWN}" does not belong to the rest of the record (${(error as Error).message}); if the record was edited, remove that part`,
    );
  }
}

/** A format in which each episode is a line of its own. */
export function episodeFormat(
  coding: EpisodeCoding,
  about: Omit<TrajectoryFormat, "grouped" | "holdsFailures" | "write" | "read">,
): TrajectoryFormat {
  return {
    ...about,
    grouped: false,
    holdsFailures: false,
    write: ({ trajectories }, context) =>
      trajectories.map((trajectory) => encodeEpisode(coding, trajectory, context)),
    read(record, place) {
      const { trajectory, foreign } = decodeEpisode(coding, record, place);
      return { trajectories: [trajectory], failures: [], foreign: Number(foreign) };
    },
  };
}

function asJson(trajectory: Trajectory): Json {
  return trajectory as unknown as Json;
}
