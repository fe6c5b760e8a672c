import type { Command } from "commander";
import { aliasPlace, readAlias } from "../../runs/alias-history.ts";
import { promote } from "../../verify/promote.ts";
import { printMoved } from "../alias-text.ts";
import { namedPolicy } from "../named-policy.ts";
import { numberIn, repeated } from "../options.ts";

interface Flags {
  readonly alias: string;
  readonly policy: string;
  readonly verdict?: string;
  readonly reason?: string;
  readonly force?: true;
  readonly usedBy?: string[];
  readonly traffic?: number;
}

export const ALIAS = [
  "--alias <name>",
  "alias, in ./aliases; a path names another folder",
] as const;

export const help = `gate --report writes the verdict. It must be PROMOTE, or PASS for a claim of no
regression, and the gate must still give it for its runs. Its candidate must be
this policy, by content, and its baseline the policy that the alias names now.
Otherwise nothing changes.

aliases/NAME holds the history, one file for each entry; commit it. Commands
that take a checkpoint also take alias:NAME, and check that its content is what
was promoted.

Examples:
  lockedroom promote --alias production --policy runs/grpo/checkpoint \\
    --verdict verdict.json --used-by "support bot" --traffic 0.1
  lockedroom promote --alias production --policy pi0 --force \\
    --reason "first policy, there is nothing to compare with"`;

export function define(command: Command): void {
  command
    .description(
      "Lets an alias name a policy, if a verdict of the gate allows it. The history is kept; rollback returns to the policy before.",
    )
    .requiredOption(...ALIAS)
    .requiredOption("--policy <policy>", "pi0, a checkpoint folder, alias:NAME or openai:MODEL")
    .option("--verdict <file>", "verdict of the gate, as gate --report wrote it")
    .option("--reason <text>", "why; required with --force")
    .option("--force", "promote although a condition is not met; recorded")
    .option("--used-by <text>", "what uses the alias; can be repeated", repeated)
    .option(
      "--traffic <share>",
      "share of the traffic that it gets, from 0 to 1",
      numberIn(0, 1, "a number from 0 to 1"),
    )
    .action(run);
}

async function run({ alias, ...flags }: Flags): Promise<void> {
  const place = aliasPlace(alias);
  const policy = await namedPolicy(flags.policy);
  const entry = await promote({ ...flags, place, policy });
  printMoved(place, entry, readAlias(place)[entry.number - 2]);
}
