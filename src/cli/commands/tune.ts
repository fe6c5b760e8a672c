/** `lockedroom tune`: training files for fine-tuning on Azure and OpenAI. */

import { Argument, type Command } from "commander";
import type { Subcommand } from "../subcommand.ts";
import { tuneData } from "../tune-data.ts";
import { tuneImport } from "../tune-import.ts";
import { tuneValidate } from "../tune-validate.ts";

/** By the word after `tune`. */
const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  data: tuneData,
  validate: tuneValidate,
  import: tuneImport,
};

const LIST = Object.entries(SUBCOMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join("\n");

const EXAMPLES = `Examples:
  lockedroom tune data --help
  lockedroom tune validate training.jsonl
  lockedroom tune import --help`;

/** With the name of a subcommand, about that one. */
export function help([name = ""]: readonly string[]): string {
  return (
    subcommand(name)?.help ??
    `Subcommands:\n${LIST}\n\n\`lockedroom tune SUBCOMMAND --help\` describes one of them.\n\n${EXAMPLES}`
  );
}

export function define(
  command: Command,
  exit: (code: number) => void,
  [name = ""]: readonly string[],
): void {
  const chosen = subcommand(name);
  command
    .description(
      chosen?.description ??
        "Training files for fine-tuning on Azure and OpenAI: write them from runs, check them, read them back.",
    )
    .addArgument(new Argument("<subcommand>", "what to do").choices(Object.keys(SUBCOMMANDS)));
  if (chosen) chosen.define(command.usage(`${name} ${chosen.usage ?? "[options]"}`), exit);
  else command.action(() => {});
}

function subcommand(name: string): Subcommand | undefined {
  return Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
}
