/** What the commands of the track share: the workspace around the current folder, and output. */

import { fileURLToPath } from "node:url";
import { InvalidArgumentError } from "commander";
import { CheckContext, type Failure } from "../course/check-context.ts";
import { EXTRA_IDS, LEVEL_IDS, type LevelId, TRACK_IDS } from "../course/level.ts";
import { requireWorkspace } from "../course/workspace.ts";
import { out, print, program, wrap } from "./terminal.ts";

/** The command as a file, to be run again by the checks. */
export const BIN = fileURLToPath(new URL("./bin.js", import.meta.url));

export async function withCheckContext<T>(work: (context: CheckContext) => Promise<T>): Promise<T> {
  return CheckContext.with(requireWorkspace(process.cwd()), BIN, work);
}

export function levelArgument(text: string): LevelId {
  if (LEVEL_IDS.includes(text as LevelId)) return text as LevelId;
  throw new InvalidArgumentError(
    `The levels are ${TRACK_IDS.join(", ")}, and ${EXTRA_IDS.join(", ")}, which is extra.`,
  );
}

export function printFailure({ expected, found, where }: Failure, indent: string): void {
  print(`expected ${expected}`, indent);
  print(`found    ${found}`, indent);
  print(`where    ${where}`, indent);
}

/** What comes after a level that is passed. */
export function printAfter(id: LevelId): void {
  out(`Next: ${program()} quiz ${id}   the level's checklist as questions`);
  out(`Then: ${program()} ${following(id)}`);
}

/** The command after a level's quiz. */
export function following(id: LevelId): string {
  const place = (TRACK_IDS as readonly LevelId[]).indexOf(id);
  const after = place < 0 ? undefined : TRACK_IDS[place + 1];
  return after === undefined ? "plan" : `level ${after}`;
}

/** Wraps sentences and leaves commands as they are, to be copied. */
export function steps(next: string): string {
  const command = /^(?:\.\/lockedroom|git|cp|npm|for|done|# | {2})/;
  return next
    .split("\n")
    .map((line) => (command.test(line) ? line : wrap(line)))
    .join("\n");
}
