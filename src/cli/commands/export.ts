/** `lockedroom export`: trajectories for other libraries. */

import { Argument, type Command, Option } from "commander";
import { visible } from "../../core/visible.ts";
import { type Exported, exportTrajectories } from "../../formats/export.ts";
import { FORMATS, formatNamed } from "../../formats/formats.ts";
import { openTrajectories } from "../../runs/trajectory-source.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import { startProgress, totalBytes } from "../progress.ts";
import { counted, hanging, out, print, warning } from "../terminal.ts";

interface Flags {
  readonly format: string;
  readonly outfile: string;
  readonly force?: boolean;
  readonly quiet?: boolean;
  readonly report?: string;
}

const WRITTEN = FORMATS.filter(({ name }) => name !== "lockedroom");

export const help = `Formats:
${WRITTEN.map(({ name, about }) => hanging(`  ${name.padEnd(14)}`, about)).join("\n")}
What a format has no place for is kept under the key "lockedroom", so that
import gives back the same trajectories. docs/trajectory-formats.md says what
each format holds.

Exit codes:
  0  done    64  wrong usage    65  bad data

Examples:
  lockedroom export trajectories runs/games --format art --outfile groups.jsonl
  lockedroom export trajectories runs/games --format trl --outfile sft.jsonl
  lockedroom export trajectories trajectories.jsonl --format verifiers \\
      --outfile traces.jsonl --force`;

export function define(command: Command): void {
  command
    .description("Writes the trajectories of a rollout in the format of another library.")
    .addArgument(new Argument("<what>", "what to export").choices(["trajectories"]))
    .argument("<rollout>", "folder of a rollout in an environment, or its trajectories.jsonl")
    .addOption(
      new Option("--format <format>", "format of the file (see below)")
        .choices(WRITTEN.map(({ name }) => name))
        .makeOptionMandatory(),
    )
    .requiredOption("--outfile <file>", "file to write, JSONL")
    .option("--force", "overwrite --outfile")
    .option("--report <file>", "also write what was done as JSON to this file")
    .option("--quiet", "print only errors")
    .action(run);
}

async function run(_what: string, rollout: string, flags: Flags): Promise<void> {
  const { file } = await openTrajectories(rollout);
  const progress = startProgress("Exporting", totalBytes(file), flags.quiet);
  try {
    const exported = await exportTrajectories(rollout, formatNamed(flags.format), flags.outfile, {
      force: flags.force,
      onBytes: (bytes) => progress.add(bytes),
    });
    progress.stop();
    if (flags.report) await writeWhole(flags.report, `${JSON.stringify(exported, null, 2)}\n`);
    if (!flags.quiet) report(exported);
  } finally {
    progress.stop();
  }
}

function report(exported: Exported): void {
  const { format, outfile, lines, trajectories, unscored, failures } = exported;
  print(
    `Wrote ${visible(outfile)}: ${counted(trajectories, "episode")} for ${format}, ${counted(lines, "line")}`,
  );
  if (unscored > 0) {
    const place =
      format === "art"
        ? "ART needs a number, so these are exceptions of their groups"
        : "the file says so, too";
    out(warning(`${unscored} without a reward; ${place}`));
  }
  if (failures > 0 && !exported.failures_written) {
    out(
      warning(`${counted(failures, "failed rollout")} left out: the format has no place for them`),
    );
  }
}
