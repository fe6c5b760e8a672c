/** The embedded policy π₀, and its name. */

import { fileURLToPath } from "node:url";
import { dataError, usageError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { ALIAS_PREFIX, aliasPlace, currentEntry, sourceOf } from "../runs/alias-history.ts";
import { wholeFolder } from "../runs/replace-folder.ts";
import { fileExists } from "../runs/whole-file.ts";

const NAME = "pi0";

export const PI0 = fileURLToPath(new URL("../../assets/pi0", import.meta.url));

/** A policy that is given by an alias, such as alias:production. */
export interface AliasedPolicy {
  /** A checkpoint folder, `pi0` or `openai:MODEL`. */
  readonly source: string;
  readonly identity: JsonObject;
}

/** Undefined where the policy is not given by an alias. */
export function aliasedPolicy(given: string): AliasedPolicy | undefined {
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

/** The folder of a checkpoint that is given as a path, as `pi0` or as `alias:NAME`. */
export function checkpointFolder(given: string): string {
  const aliased = aliasedPolicy(given);
  if (aliased?.source.startsWith("openai:")) {
    throw usageError(
      `${given} is ${aliased.source}, an endpoint, and a checkpoint is needed here`,
      "Name an alias of a checkpoint, or a checkpoint folder.",
    );
  }
  if (aliased) return aliased.source === NAME ? PI0 : aliased.source;
  if (given !== NAME) return given;
  // Ambiguous: only a path states which of the two is meant.
  if (fileExists(wholeFolder(NAME))) {
    throw usageError(
      `${NAME} names the embedded policy, and there is a ${NAME} here too`,
      `Write ./${NAME} for the one here, or ${PI0} for the embedded one.`,
    );
  }
  return PI0;
}
