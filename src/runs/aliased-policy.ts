/** Where a policy lies, and which policy an alias such as alias:production names. */

import { dataError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { ALIAS_PREFIX, aliasPlace, currentEntry, sourceOf } from "./alias-history.ts";

/** A policy and where it lies. */
export interface LocatedPolicy {
  /** A checkpoint folder, `pi0` or `openai:MODEL`. */
  readonly source: string;
  /** As runs record it. */
  readonly identity: JsonObject;
}

/** Undefined where the policy is not given by an alias. */
export function aliasedPolicy(given: string): LocatedPolicy | undefined {
  if (!given.startsWith(ALIAS_PREFIX)) return undefined;
  const place = aliasPlace(given.slice(ALIAS_PREFIX.length));
  const entry = currentEntry(place);
  return { source: sourceOf(place, entry), identity: entry.policy };
}

/** What the alias names must still be what was promoted. */
export function requirePromoted(given: string, fingerprint: string): void {
  const aliased = aliasedPolicy(given);
  if (!aliased || aliased.identity.fingerprint === fingerprint) return;
  throw dataError(
    `${given} is ${aliased.source}, which has changed since it was promoted`,
    "Put the promoted checkpoint back there, promote the new one, or roll back.",
  );
}
