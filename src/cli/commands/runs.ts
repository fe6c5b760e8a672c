import type { Command } from "commander";
import { messageOf } from "../../core/errors.ts";
import { visible } from "../../core/visible.ts";
import { listRuns, type RunEntry } from "../../runs/catalogue.ts";
import { describeKind } from "../../runs/kinds.ts";
import { FORMAT, type Format } from "../options.ts";
import { out, print, printableJson, warning } from "../terminal.ts";

export const help = `Examples:
  lockedroom runs
  lockedroom runs runs/sweep --format json`;

export function define(command: Command): void {
  command
    .description(
      "Lists the runs at and below a folder: kind, state and headline figures. A run is running, interrupted or finished.",
    )
    .argument("[root]", "where to look", "runs")
    .addOption(FORMAT)
    .action(run);
}

async function run(root: string, { format }: { format: Format }): Promise<void> {
  const entries: RunEntry[] = [];
  const unreadable: string[] = [];
  const onUnreadable = (dir: string, error: unknown) =>
    unreadable.push(`Not listed: ${visible(dir)} (${visible(messageOf(error))})`);
  for await (const entry of listRuns(root, { onUnreadable })) {
    if (format === "text") show(entry);
    else entries.push(entry);
  }
  if (format === "json") out(printableJson(entries, 2));
  else for (const line of unreadable) out(warning(line, ""));
}

function show({ dir, kind, state, startedAt, headline, verification }: RunEntry): void {
  const figures = Object.entries(headline).map(([name, value]) => `${name} ${shown(value)}`);
  const columns = [
    describeKind(kind).name.padEnd(18),
    state.padEnd(11),
    visible(startedAt.slice(0, 16)).replace("T", " "),
    visible(dir),
  ];
  out(`${columns.join("  ")}${figures.length > 0 ? `\n    ${figures.join(", ")}` : ""}`);
  if (verification !== undefined) print(verification, "    ");
}

function shown(value: number | null): string {
  if (value === null) return "undefined";
  return Number.isInteger(value) ? String(value) : value.toFixed(4);
}
