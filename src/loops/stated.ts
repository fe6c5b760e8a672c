/** Where completions come from, as their owner states it in place of a provenance file. */

import { usageError } from "../core/errors.ts";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { provenancePath } from "../runs/manifest.ts";
import type { Provenance } from "../runs/schemas.ts";

/** Which policy sampled the completions, and how. @see {@link evaluate} */
export interface StatedProvenance {
  /** The policy's name, for completions without a provenance file. */
  readonly policy?: string | undefined;
  /** Its sampling settings, such as `{ temperature: 0.7, seed: 3 }`. */
  readonly sampling?: Readonly<Record<string, number>> | undefined;
}

/**
 * What the manifest says of policy and sampling. A provenance file describes more than a statement
 * can; it stays what counts, and a statement that it contradicts is refused.
 */
export function describedBy(
  provenance: Provenance | undefined,
  stated: StatedProvenance | undefined,
  completions: string | null,
): { policy: JsonObject | null; sampling: JsonObject | null } {
  const { policy: known, sampling: settings } = provenance ?? {};
  const { policy: name, sampling } = stated ?? {};
  const refuse = (what: string) => refuseStatement(what, completions ?? "");
  if (known && name !== undefined && known.name !== name) refuse("another policy");
  if (settings && sampling && !agrees(settings, sampling)) refuse("other sampling settings");
  return {
    policy: known ?? (name === undefined ? null : { kind: "stated", name }),
    sampling: settings ?? (sampling ? { ...sampling } : null),
  };
}

function agrees(settings: JsonObject, stated: Readonly<Record<string, number>>): boolean {
  return Object.entries(stated).every(
    ([name, value]) => canonicalJson(settings[name] ?? null) === canonicalJson(value),
  );
}

function refuseStatement(what: string, completions: string): never {
  throw usageError(
    `${provenancePath(completions)} states ${what}`,
    "Leave out what the file states, or correct the one that is wrong.",
  );
}
