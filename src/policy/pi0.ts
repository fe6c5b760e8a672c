/** The embedded policy π₀, and its name. */

import { fileURLToPath } from "node:url";
import { usageError } from "../core/errors.ts";
import { aliasedPolicy } from "../runs/aliased-policy.ts";
import { wholeFolder } from "../runs/replace-folder.ts";
import { fileExists } from "../runs/whole-file.ts";

const NAME = "pi0";

export const PI0 = fileURLToPath(new URL("../../assets/pi0", import.meta.url));

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
