/** `lockedroom import`: trajectories of other libraries. */

import path from "node:path";
import { Argument, type Command, Option } from "commander";
import { visible } from "../../core/visible.ts";
import { FORMATS, formatNamed } from "../../formats/formats.ts";
import { type ImportedFile, importTrajectories } from "../../formats/import.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import { startProgress, totalBytes } from "../progress.ts";
import { commandLines, counted, hanging, out, print, program, warning } from "../terminal.ts";

interface Flags {
  readonly format: string;
  readonly outdir: string;
  readonly force?: boolean;
  readonly quiet?: boolean;
  readonly report?: string;
}

export const help = `Formats:
${FORMATS.map(({ name, about }) => hanging(`  ${name.padEnd(14)}`, about)).join("\n")}
Writes trajectories.jsonl, failures.jsonl where rollouts failed, and
trajectories.provenance.json, which says that policy, prompt and sampling are
unknown: a file of another program does not prove where it comes from.

Exit codes:
  0  done    64  wrong usage    65  bad data: the line and field are named

Examples:
  lockedroom import trajectories rows.jsonl --format trl --outdir imported
  lockedroom import trajectories groups.jsonl --format art --outdir imported \\
      --force`;

export function define(command: Command): void {
  command
    .description("Reads trajectories of another library into a trajectories.jsonl.")
    .addArgument(new Argument("<what>", "what to import").choices(["trajectories"]))
    .argument("<file>", "file to read, JSONL")
    .addOption(
      new Option("--format <format>", "format of the file (see below)")
        .choices(FORMATS.map(({ name }) => name))
        .makeOptionMandatory(),
    )
    .requiredOption("--outdir <folder>", "output folder")
    .option("--force", "overwrite an earlier import in --outdir")
    .option("--report <file>", "also write what was done as JSON to this file")
    .option("--quiet", "print only errors")
    .action(run);
}

async function run(_what: string, file: string, flags: Flags): Promise<void> {
  const progress = startProgress("Importing", totalBytes(file), flags.quiet);
  try {
    const imported = await importTrajectories(file, formatNamed(flags.format), flags.outdir, {
      force: flags.force,
      onBytes: (bytes) => progress.add(bytes),
    });
    progress.stop();
    if (flags.report) await writeWhole(flags.report, `${JSON.stringify(imported, null, 2)}\n`);
    if (!flags.quiet) report(imported);
  } finally {
    progress.stop();
  }
}

function report(imported: ImportedFile): void {
  const { format, trajectories_file: file, trajectories, foreign, unscored, failures } = imported;
  const failed = failures > 0 ? `, ${counted(failures, "failed rollout")}` : "";
  print(`Wrote ${visible(file)}: ${counted(trajectories, "episode")} from ${format}${failed}`);
  print("The origin is unknown: policy, prompt and sampling are null.", "  ");
  if (foreign > 0) {
    out(warning(`${foreign} from another program, which does not say: ${imported.missing}`));
  }
  if (unscored > 0) out(warning(`${unscored} without a reward`));
  const folder = path.dirname(file);
  out(
    commandLines(`Next: ${program()} eval`, [
      ...[`--trajectories ${folder}`, "--env NAME", `--outdir ${folder}-scored`],
    ]),
  );
}
