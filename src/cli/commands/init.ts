/** `lockedroom init` */

import path from "node:path";
import type { Command } from "commander";
import { initWorkspace } from "../../course/init.ts";
import { out, paint, wrap } from "../terminal.ts";

export function define(command: Command): Command {
  return command
    .description(
      "Makes a workspace of the mastery track: data, an editable verifier, assignments,\nnotes, and a git history. On an existing workspace it restores files that are\nmissing and links it to this installation; nothing is overwritten.",
    )
    .argument("<folder>", "new or empty, or an existing workspace")
    .addHelpText("after", "\nExamples:\n  lockedroom init my-room\n  lockedroom init .")
    .action(run);
}

async function run(folder: string): Promise<void> {
  const { fresh, written, git } = await initWorkspace(folder);
  const shown = path.relative("", folder) || ".";
  if (fresh) out(`${paint("bold", "Workspace made")} in ${shown}: ${written.length} files.`);
  else if (written.length === 0) out(`${shown} is whole, and linked to this installation.`);
  else {
    out(`${shown} lacked ${written.length} files, which are back:`);
    for (const file of written) out(`  ${file}`);
  }
  if (!git) {
    out();
    out(
      wrap(
        "git was not found. Install it, then run the same command again: the checks read what the history says.",
      ),
    );
  }
  if (!fresh) return;
  out();
  if (shown !== ".") out(`  cd ${shown}`);
  out("  ./lockedroom level 0");
  out("  ./lockedroom level 0 --next");
}
