/** Opens the workspace around the current folder for the commands of the track. */

import { fileURLToPath } from "node:url";
import { InvalidArgumentError } from "commander";
import { CheckContext } from "../course/check-context.ts";
import { LEVEL_IDS, type LevelId } from "../course/level.ts";
import { requireWorkspace } from "../course/workspace.ts";

/** The command as a file, to be run again by the checks. */
const BIN = fileURLToPath(new URL("./bin.js", import.meta.url));

export async function withCheckContext<T>(work: (context: CheckContext) => Promise<T>): Promise<T> {
  return CheckContext.with(requireWorkspace(process.cwd()), BIN, work);
}

export function levelArgument(text: string): LevelId {
  if (LEVEL_IDS.includes(text as LevelId)) return text as LevelId;
  throw new InvalidArgumentError(`The levels are ${LEVEL_IDS.join(", ")}.`);
}
