import type { Command } from "commander";
import { aliasPlace, readAlias } from "../../runs/alias-history.ts";
import { rollback } from "../../verify/promote.ts";
import { printMoved } from "../alias-text.ts";
import { namedPolicy } from "../named-policy.ts";
import { wholeNumber } from "../options.ts";
import { ALIAS } from "./promote.ts";

interface Flags {
  readonly alias: string;
  readonly reason: string;
  readonly to?: number;
}

export const help = `The policy to return to must still be what was promoted, by content. A second
rollback goes back one more policy.

Examples:
  lockedroom rollback --alias production --reason "refuses too often"
  lockedroom rollback --alias production --to 1 --reason "back to the first"`;

export function define(command: Command): void {
  command
    .description(
      "Returns an alias to the policy that it named before its last promotion, and records why.",
    )
    .requiredOption(...ALIAS)
    .requiredOption("--reason <text>", "why; the history keeps it")
    .option("--to <n>", "return to the policy of this entry", wholeNumber(1))
    .action(run);
}

async function run({ alias, reason, to }: Flags): Promise<void> {
  const place = aliasPlace(alias);
  const entry = await rollback({ place, reason, to, identify: namedPolicy });
  printMoved(place, entry, readAlias(place)[entry.number - 2]);
}
