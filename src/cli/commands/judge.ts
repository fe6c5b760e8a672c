/** `lockedroom judge`: a language model that compares the attempts at a task, and what it costs. */

import { Argument, type Command } from "commander";
import { judgeCost } from "../judge-cost.ts";
import { scoreByJudge } from "../judge-score.ts";
import { serveJudge } from "../judge-serve.ts";
import type { Subcommand } from "../subcommand.ts";

/** By the word after `judge`. */
const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  score: scoreByJudge,
  serve: serveJudge,
  cost: judgeCost,
};

const LIST = Object.entries(SUBCOMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(8)}${summary}`)
  .join("\n");

const EXAMPLES = `Examples:
  lockedroom judge score --help
  lockedroom judge serve
  lockedroom judge cost`;

/** With the name of a subcommand, about that one. */
export function help([name = ""]: readonly string[]): string {
  return (
    subcommand(name)?.help ??
    `Subcommands:\n${LIST}\n\n\`lockedroom judge SUBCOMMAND --help\` describes one of them.\n\n${EXAMPLES}`
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
        "Judges: a language model that compares the attempts at one task and gives each a score.",
    )
    .addArgument(new Argument("<subcommand>", "what to do").choices(Object.keys(SUBCOMMANDS)));
  if (chosen) chosen.define(command.usage(`${name} [options]`), exit);
  else command.action(() => {});
}

function subcommand(name: string): Subcommand | undefined {
  return Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
}
