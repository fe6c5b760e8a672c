/** Whether two recorded policies are the same one, and a short name of one. */

import { canonicalJson, type JsonObject } from "./json.ts";
import { isCheckpoint } from "./policy.ts";

/**
 * Checkpoints by the fingerprint of their content, others by all that is recorded of them. A name that
 * somebody stated says nothing about the weights.
 */
export function isSamePolicy(one: JsonObject | null, other: JsonObject | null): boolean {
  if (one === null || other === null) return false;
  if (isCheckpoint(one) && isCheckpoint(other))
    return one.fingerprint !== undefined && one.fingerprint === other.fingerprint;
  return one.kind !== "stated" && canonicalJson(one) === canonicalJson(other);
}

/** "checkpoint 0123456789ab", "openai gpt-4.1-mini" */
export function describePolicy({ kind, fingerprint, name }: JsonObject): string {
  const id = typeof fingerprint === "string" ? fingerprint.slice(0, 12) : (name ?? "");
  return `${kind} ${id}`.trim();
}
