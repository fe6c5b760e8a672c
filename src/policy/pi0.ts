/** The embedded policy π₀, and its name. */

import { fileURLToPath } from "node:url";
import { usageError } from "../core/errors.ts";
import { wholeFolder } from "../runs/replace-folder.ts";
import { fileExists } from "../runs/whole-file.ts";

const NAME = "pi0";

export const PI0 = fileURLToPath(new URL("../../assets/pi0", import.meta.url));

/** The folder of a checkpoint that is given as a path or as `pi0`. */
export function checkpointFolder(given: string): string {
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
