import path from "node:path";
import type { Command } from "commander";
import { TRACK_BRANCH } from "../../course/git.ts";
import { initWorkspace } from "../../course/init.ts";
import { out, paint, print } from "../terminal.ts";

export const help = `Examples:
  lockedroom init my-room
  lockedroom init .`;

export function define(command: Command): void {
  command
    .description(
      "Creates a workspace for the mastery track: data, an editable verifier, assignments, notes and a git repository. In an existing workspace it restores missing files and links it to this installation; nothing is overwritten.",
    )
    .argument("<folder>", "a new or empty folder, or an existing workspace")
    .action(run);
}

async function run(folder: string): Promise<void> {
  const { fresh, written, git } = await initWorkspace(folder);
  const shown = path.relative("", folder) || ".";
  if (fresh) out(`${paint("bold", "Workspace created")} in ${shown}: ${written.length} files.`);
  else if (written.length === 0) out(`${shown} is complete and linked to this installation.`);
  else {
    out(`${written.length} missing files restored in ${shown}:`);
    for (const file of written) out(`  ${file}`);
  }
  if (!git) {
    out();
    print(
      "git was not found. Install it and run the same command again: the checks read the git history.",
    );
  }
  if (!fresh) return;
  out();
  if (git) {
    print(
      `You are on the git branch ${TRACK_BRANCH}; the one it started from keeps the workspace as it was made.`,
    );
    out();
  }
  if (shown !== ".") out(`  cd ${shown}`);
  out("  ./lockedroom level 0");
  out("  ./lockedroom level 0 --next");
}
