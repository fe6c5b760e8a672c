import path from "node:path";
import { Argument, type Command } from "commander";
import { parse } from "yaml";
import { compareRuns } from "../../gate/compare.ts";
import { readMatrix } from "../../runs/matrix-schema.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import { compareMarkdown, compareText } from "../compare-text.ts";
import { baselineOf, cellsOf, runMatrix } from "../matrix.ts";
import { CONCURRENCY, openScorerHere, SCORER_TIMEOUT, type ScorerFlags } from "../scoring.ts";
import { out, print, printableJson, warning } from "../terminal.ts";

interface Flags extends ScorerFlags {
  readonly outdir: string;
  readonly quiet?: boolean;
}

export const help = `The file, with all that it may hold (n to concurrency can be left out):
  dataset: data/dev.jsonl
  prompts:
    plain:                      # no system prompt
    careful: { system: "Think first. End with Final: and the answer." }
    long: { file: prompts/long.txt }
  models:
    pi0: pi0                    # as rollout --policy
    mini: openai:gpt-4.1-mini
  baseline: plain.pi0           # PROMPT.MODEL; the first if left out
  n: 4                          # samples for each example, as eval --repeats
  sampling: { temperature: 0.7, max_tokens: 256, seed: 0 }
  scorer: my-scorer.ts
  slice: [metadata.topic]
  concurrency: 8
Each cell is OUTDIR/PROMPT.MODEL/run, with its samples beside it. Run the same
command again after an interruption, or with more prompts or models: what is
finished is kept. The table is also in matrix.md and matrix.json.

Examples:
  lockedroom matrix run matrix.yaml --outdir runs/matrix`;

export function define(command: Command): void {
  command
    .description(
      "Samples and scores every prompt with every model of a YAML file, and compares the runs with one of them.",
    )
    .addArgument(new Argument("<action>", "what to do").choices(["run"]))
    .argument("<file>", "matrix as YAML")
    .requiredOption("--outdir <folder>", "folder of all cells; a matrix in it is continued")
    .option("--quiet", "print only errors")
    .addOption(CONCURRENCY)
    .addOption(SCORER_TIMEOUT)
    .action((_action: string, file: string, flags: Flags) => run(file, flags));
}

async function run(file: string, flags: Flags): Promise<void> {
  const spec = await readMatrix(file, parse);
  const { outdir, quiet } = flags;
  const baseline = baselineOf(spec, cellsOf(spec, outdir));
  const scorer = await openScorerHere(spec.scorer, flags);
  try {
    const cells = await runMatrix({
      ...{ spec, outdir, scorer },
      onCell: ({ prompt, model, sampled }, i, of) => {
        const how = sampled === 0 ? "kept" : `${sampled} completions sampled`;
        if (!quiet) print(`${i + 1} of ${of}: prompt ${prompt}, model ${model}: ${how}`);
      },
      onNotice: (text) => {
        if (!quiet) out(warning(text));
      },
    });
    const runs = cells.filter((cell) => cell !== baseline && cell.run !== baseline.run);
    if (runs.length === 0) return;
    const found = await compareRuns({
      baseline: baseline.run,
      runs: runs.map((cell) => cell.run),
    });
    await writeWhole(path.join(outdir, "matrix.json"), `${printableJson(found, 2)}\n`);
    await writeWhole(path.join(outdir, "matrix.md"), compareMarkdown(found));
    if (quiet) return;
    out();
    out(compareText(named(found)));
    out();
    print(`Cells, matrix.json and matrix.md written to ${outdir}`);
  } finally {
    await scorer.close();
  }
}

/** In the table a cell is called by its prompt and model. */
function named(found: Awaited<ReturnType<typeof compareRuns>>): typeof found {
  const cell = (run: string) => path.basename(path.dirname(run));
  return {
    ...found,
    baseline: { ...found.baseline, run: cell(found.baseline.run) },
    runs: found.runs.map((one) => ({ ...one, run: cell(one.run) })),
  };
}
