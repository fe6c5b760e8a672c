import type { Command } from "commander";
import { dataError, LockedRoomError } from "../../core/errors.ts";
import { visible } from "../../core/visible.ts";
import type { AliasEntry } from "../../runs/alias-entry.ts";
import { aliasPlace, currentEntry, listAliases, readAlias } from "../../runs/alias-history.ts";
import { printAlias, printHistory } from "../alias-text.ts";
import { FORMAT, type Format } from "../options.ts";
import { out, print, printableJson, warning } from "../terminal.ts";

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
  const places = listAliases();
  const damaged: string[] = [];
  const entries: AliasEntry[] = [];
  for (const place of places) {
    try {
      const entry = currentEntry(place);
      entries.push(entry);
      if (format !== "json") printAlias(place, entry);
    } catch (error) {
      if (!(error instanceof LockedRoomError)) throw error;
      damaged.push(place.name);
      if (format !== "json") out(warning(`${place.name}: ${visible(error.message)}`, ""));
    }
  }
  if (format === "json") out(printableJson(entries, 2));
  else if (places.length === 0) print("No alias here. Make one with promote.");
  if (damaged.length > 0)
    throw dataError(
      `${damaged.length} of ${places.length} aliases cannot be read: ${damaged.join(", ")}`,
      "Restore their folders from version control or a backup.",
    );
}
