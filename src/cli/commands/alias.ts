import type { Command } from "commander";
import { aliasPlace, currentEntry, listAliases, readAlias } from "../../runs/alias-history.ts";
import { printAlias, printHistory } from "../alias-text.ts";
import { FORMAT, type Format } from "../options.ts";
import { out, print, printableJson } from "../terminal.ts";

export const help = `Examples:
  lockedroom alias
  lockedroom alias production
  lockedroom alias production --format json`;

export function define(command: Command): void {
  command
    .description(
      "Lists the policy aliases in ./aliases, or shows the history of one: promotions and rollbacks with their verdicts and reasons.",
    )
    .argument("[name]", "alias; a path names another folder")
    .addOption(FORMAT)
    .action(run);
}

function run(name: string | undefined, { format }: { format: Format }): void {
  if (name === undefined) {
    list(format);
    return;
  }
  const place = aliasPlace(name);
  currentEntry(place);
  const entries = readAlias(place);
  if (format === "json") out(printableJson(entries, 2));
  else printHistory(place, entries);
}

function list(format: Format): void {
  const aliases = listAliases().map((place) => [place, currentEntry(place)] as const);
  if (format === "json") {
    out(
      printableJson(
        aliases.map(([, entry]) => entry),
        2,
      ),
    );
    return;
  }
  for (const [place, entry] of aliases) printAlias(place, entry);
  if (aliases.length === 0) print("No alias here. Make one with promote.");
}
