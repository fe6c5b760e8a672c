/** Whether a command line that a page shows is one of this version; it is parsed, not run. */

import { Command } from "commander";
import { COMMANDS, loadCommand } from "../src/cli/commands.ts";

/** What is wrong with it; undefined where it parses. */
export async function commandProblem([program, name = "", ...words]: readonly string[]): Promise<
  string | undefined
> {
  if (program !== "lockedroom" || !Object.hasOwn(COMMANDS, name)) return "no such command";
  const command = new Command(name).exitOverride().configureOutput({ writeErr: () => {} });
  (await loadCommand(name)).define(command, () => {}, words);
  command.allowExcessArguments(false).action(() => {});
  try {
    await command.parseAsync(words, { from: "user" });
    return undefined;
  } catch (error) {
    return String(error);
  }
}
