/** What formats with a free place for further fields say of an episode's outcome, in plain sight. */

import type { JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import type { Trajectory } from "../core/trajectory.ts";
import { type Place, UNSAID } from "./format.ts";

type Outcome = Pick<Trajectory, "id" | "sample" | "code" | "terminated" | "metadata" | "logs">;

export function outcomeFields(trajectory: Outcome): JsonObject {
  const { id, sample, code, terminated, metadata, logs } = trajectory;
  return { task_id: id, sample, code, terminated, metadata, logs };
}

/** Fields of the same names and types are read, whoever wrote them. */
export function outcomeOf(given: unknown, id: string, place: Place): Outcome & { address: [] } {
  const found = isFields(given) ? given : {};
  const { task_id, sample, code, terminated, metadata, logs } = found;
  const task = typeof task_id === "string" ? task_id : id;
  return {
    id: task,
    sample: isCount(sample) ? sample : place.nextSample(task),
    address: [],
    code: typeof code === "string" ? code : UNSAID.code,
    terminated: typeof terminated === "boolean" ? terminated : UNSAID.terminated,
    metadata: isFields(metadata) ? (metadata as JsonObject) : {},
    logs: Array.isArray(logs) && logs.every((line) => typeof line === "string") ? logs : [],
  };
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The name of one episode among all of a file. */
export function episodeName({ id, sample }: { id: string; sample: number }): string {
  return `${id}#${sample}`;
}

/** The sample number at the end of such a name. */
export function sampleIn(name: unknown): number | undefined {
  const digits = /#(\d{1,15})$/.exec(String(name))?.[1];
  return digits === undefined ? undefined : Number(digits);
}
