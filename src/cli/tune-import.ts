/** `lockedroom tune import`: training files of Azure and OpenAI as texts, pairs or examples. */

import path from "node:path";
import { Option } from "commander";
import { visible } from "../core/visible.ts";
import { importJob, importTuneFile, jobIn, type TuneImported } from "../tune/import.ts";
import { LOSSES, type Loss } from "../tune/import-rows.ts";
import { TUNE_KINDS, type TuneKind } from "../tune/kinds.ts";
import { startProgress, totalBytes } from "./progress.ts";
import type { Subcommand } from "./subcommand.ts";
import { commandLines, counted, out, print, program, warning } from "./terminal.ts";

interface Flags {
  readonly kind?: TuneKind;
  readonly outdir: string;
  readonly answer?: string;
  readonly force?: boolean;
  readonly quiet?: boolean;
}

export const tuneImport: Subcommand = {
  summary: "read such a file back as texts, pairs or examples",
  usage: "<file> [options]",
  description:
    "Reads a training file of Azure or OpenAI into the formats of this program, and says what does not fit.",
  help: `sft rows become texts.jsonl (train sft), dpo rows pairs.jsonl (train dpo), rft
rows examples.jsonl with all fields (eval, rollout). Old names of DPO outputs
are read. What these formats have no place for stays in the row: tune data
writes the same row again. A .json file with the body of a job becomes job.json
in the present shape, from both shapes of response_format.

Exit codes:
  0  done    64 wrong usage    65 bad data: line and field are named

Examples:
  lockedroom tune import training.jsonl --outdir imported
  lockedroom tune import rft.jsonl --kind rft --answer answer --outdir imported
  lockedroom tune import job.json --outdir imported`,
  define(command) {
    command
      .argument("<file>", "file to read, JSONL; or the body of a job, JSON")
      .addOption(new Option("--kind <kind>", "kind of the file").choices(TUNE_KINDS))
      .requiredOption("--outdir <folder>", "output folder")
      .option("--answer <field>", "rft: field that becomes expected_answer")
      .option("--force", "overwrite an earlier import in --outdir")
      .option("--quiet", "print only errors")
      .action((_name: string, file: string, flags: Flags) => run(file, flags));
  },
};

async function run(file: string, flags: Flags): Promise<void> {
  const { outdir, force, quiet } = flags;
  const body = await jobIn(file);
  if (body) {
    const { outfile, changes } = await importJob(body, { outdir, force });
    if (quiet) return;
    print(`Wrote ${visible(outfile)}: the body of a job`);
    for (const change of changes) out(warning(`${change}.`));
    return;
  }
  const progress = startProgress("Importing", totalBytes(file), quiet);
  const imported = await importTuneFile(file, {
    ...{ outdir, force, kind: flags.kind, answerField: flags.answer },
    onBytes: (bytes) => progress.add(bytes),
  }).finally(() => progress.stop());
  if (!quiet) report(imported);
}

const NEXT: Readonly<Record<TuneKind, readonly [string, ...string[]]>> = {
  sft: ["train sft", "--init CHECKPOINT"],
  dpo: ["train dpo", "--init CHECKPOINT"],
  rft: ["rollout", "--policy POLICY"],
};

function report({ kind, outfile, rows, losses }: TuneImported): void {
  print(`Wrote ${visible(outfile)}: ${counted(rows, "row")} of ${kind}`);
  for (const [loss, count] of Object.entries(losses))
    out(warning(`${counted(count, "row")}: ${LOSSES[loss as Loss]}`));
  const [command, ...parts] = NEXT[kind];
  const next = path.join(path.dirname(outfile), "run");
  out(
    commandLines(`Next: ${program()} ${command}`, [
      ...[...parts, `--dataset ${outfile}`, `--outdir ${next}`],
    ]),
  );
}
