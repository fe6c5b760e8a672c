/** A part of a command with options of its own, such as `judge serve`, and commands that are a list of them. */

import { Argument, type Command } from "commander";
import type { CommandModule } from "./commands.ts";

export interface Subcommand {
  /** In a line of the list. */
  readonly summary: string;
  readonly description: string;
  /** What follows its name; "[options]" where it has no arguments. */
  readonly usage?: string;
  /** Printed after the options. */
  readonly help: string;
  /** Adds options and an action, whose first argument is the subcommand's name. */
  define(command: Command, exit: (code: number) => void): void;
}

/** A command whose first word chooses one of its subcommands. */
export interface SubcommandList {
  readonly command: string;
  readonly description: string;
  /** Command lines. */
  readonly examples: readonly string[];
  readonly subcommands: Readonly<Record<string, Subcommand>>;
}

export function commandOf(list: SubcommandList): CommandModule {
  const { command: program, description, examples, subcommands } = list;
  const names = Object.keys(subcommands);
  const width = 2 + Math.max(...names.map(({ length }) => length));
  const lines = Object.entries(subcommands).map(
    ([name, { summary }]) => `  ${name.padEnd(width)}${summary}`,
  );
  const chosenBy = ([name = ""]: readonly string[]) =>
    Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  return {
    help: (words) =>
      chosenBy(words)?.help ??
      `Subcommands:\n${lines.join("\n")}

\`lockedroom ${program} SUBCOMMAND --help\` describes one of them.

Examples:
${examples.map((line) => `  ${line}`).join("\n")}`,
    define(command, exit, words) {
      const chosen = chosenBy(words);
      command
        .description(chosen?.description ?? description)
        .addArgument(new Argument("<subcommand>", "what to do").choices(names));
      if (chosen) chosen.define(command.usage(`${words[0]} ${chosen.usage ?? "[options]"}`), exit);
      else command.action(() => {});
    },
  };
}
