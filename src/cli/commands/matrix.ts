import path from "node:path";
import { Argument, type Command, Option } from "commander";
import { parse } from "yaml";
import { type Comparison, compareRuns } from "../../gate/compare.ts";
import { baselineOf, type Cell, cellsOf, runMatrix } from "../../loops/matrix.ts";
import { type MatrixSpec, readMatrix } from "../../runs/matrix-schema.ts";
import { openRun } from "../../runs/reader.ts";
import { writeWhole } from "../../runs/whole-file.ts";
import { DEFAULT_CONCURRENCY } from "../../scorers/open.ts";
import { axesOf } from "../axis-text.ts";
import { compareMarkdown, compareText } from "../compare-text.ts";
import { addPythonOption } from "../grader-host.ts";
import { openPolicy, readSystem } from "../open-policy.ts";
import { wholeNumber } from "../options.ts";
import { openScorerHere, SCORER_TIMEOUT, type ScorerFlags } from "../scoring.ts";
import { gridMarkdown, gridText, sliceGrids } from "../slice-grid.ts";
import { sliceTable } from "../slice-text.ts";
import { out, print, printableJson, warning } from "../terminal.ts";

interface Flags extends Omit<ScorerFlags, "concurrency"> {
  readonly outdir: string;
  readonly quiet?: boolean;
  readonly scorerConcurrency: number;
}

export const help = `The file, with all that it may hold (n to concurrency can be left out):
  dataset: data/dev.jsonl
  prompts:
    plain:                      # no system prompt
    careful: { system: "Think first. End with Final: and the answer." }
    long: { file: prompts/long.txt }
  models:
    mini: openai:gpt-4.1-mini   # as rollout --policy
    mine: runs/sft/checkpoint
  baseline: plain.mini          # PROMPT.MODEL; the first if left out
  n: 4                          # samples for each example, as eval --repeats
  sampling: { temperature: 0.7, max_tokens: 256, seed: 0 }
  scorer: my-scorer.ts
  axes: [safety, verbosity]     # as eval --axis
  slice: [metadata.topic]
  concurrency: 8                # requests at once to an endpoint
Each cell is OUTDIR/PROMPT.MODEL/run, with its samples beside it. Run the same
command again after an interruption, or with more prompts or models: what is
finished is kept. The table is also in matrix.md and matrix.json; report --run
OUTDIR writes it as a page with charts.

Examples:
  lockedroom matrix run matrix.yaml --outdir runs/matrix`;

export function define(command: Command): void {
  addPythonOption(command)
    .description(
      "Samples and scores every prompt with every model of a YAML file, and compares the runs with one of them.",
    )
    .addArgument(new Argument("<action>", "what to do").choices(["run"]))
    .argument("<file>", "matrix as YAML")
    .requiredOption("--outdir <folder>", "folder of all cells; a matrix in it is continued")
    .option("--quiet", "print only errors")
    .addOption(SCORER_CONCURRENCY)
    .addOption(SCORER_TIMEOUT)
    .action((_action: string, file: string, flags: Flags) => run(file, flags));
}

/** Not --concurrency: the file has that name for the requests to an endpoint. */
const SCORER_CONCURRENCY = new Option(
  "--scorer-concurrency <n>",
  "rows scored at once, for an asynchronous scorer",
)
  .argParser(wholeNumber(1, 256))
  .default(DEFAULT_CONCURRENCY);

async function run(file: string, flags: Flags): Promise<void> {
  const spec = await readMatrix(file, parse);
  const { outdir, quiet, scorerConcurrency: concurrency } = flags;
  const baseline = baselineOf(spec, cellsOf(spec, outdir));
  const scorer = await openScorerHere(spec.scorer, { ...flags, concurrency });
  const onNotice = (text: string) => {
    if (!quiet) out(warning(text));
  };
  try {
    const cells = await runMatrix({
      ...{ spec, outdir, scorer, axes: axesOf(spec.axes) },
      openPolicy: (cell) => openCell(spec, cell, onNotice),
      onCell: ({ prompt, model, sampled }, i, of) => {
        const how = sampled === 0 ? "kept" : `${sampled} completions sampled`;
        if (!quiet) print(`${i + 1} of ${of}: prompt ${prompt}, model ${model}: ${how}`);
      },
    });
    const { json, markdown, text } =
      cells.length === 1 ? await onlyCell(baseline) : await compareCells(baseline, cells);
    await writeWhole(path.join(outdir, "matrix.json"), `${printableJson(json, 2)}\n`);
    await writeWhole(path.join(outdir, "matrix.md"), markdown);
    if (quiet) return;
    out();
    out(text);
    out();
    print(`Cells, matrix.json and matrix.md written to ${outdir}`);
  } finally {
    await scorer.close();
  }
}

async function openCell(
  { prompts, models, sampling, concurrency }: MatrixSpec,
  { prompt, model }: Cell,
  onNotice: (text: string) => void,
) {
  const { system, file } = prompts[prompt] ?? {};
  const { top_p: topP, top_k: topK, max_tokens: maxTokens, ...rest } = sampling;
  const flags = { ...rest, topP, topK, maxTokens, concurrency, policy: models[model] as string };
  return openPolicy(flags, file === undefined ? system : await readSystem(file), onNotice);
}

/** The table of a matrix as matrix.json, as matrix.md and for the terminal. */
interface Table {
  readonly json: object;
  readonly markdown: string;
  readonly text: string;
}

async function compareCells(baseline: Cell, cells: readonly Cell[]): Promise<Table> {
  const runs = cells.filter(({ run }) => run !== baseline.run).map(({ run }) => run);
  const json = await compareRuns({ baseline: baseline.run, runs });
  const shown = named(json, cells);
  const slices = await sliceGrids(json);
  const shownSlices = slices.map((grid) => ({ ...grid, rows: renamed(grid.rows, cells) }));
  return {
    json: { ...json, ...(slices.length > 0 && { slices }) },
    markdown: [compareMarkdown(shown), ...shownSlices.map(gridMarkdown)].join("\n"),
    text: [compareText(shown), ...shownSlices.map(gridText)].join("\n\n"),
  };
}

/** There is nothing to compare it with, so its own figures are all. */
async function onlyCell({ run, name }: Cell): Promise<Table> {
  const { metrics, slices } = (await openRun(run)).summary;
  const { pass_rate, mean_reward, n_scored } = metrics;
  const metric = pass_rate === mean_reward ? "pass rate" : "mean reward";
  const figure = mean_reward?.toFixed(4) ?? "–";
  return {
    json: { baseline: { run, pass_rate, mean_reward, n_scored }, metric, runs: [] },
    markdown: `| run | ${metric} | scored |\n|---|---|---|\n| ${name} | ${figure} | ${n_scored} |\n`,
    text: [
      `${name}: ${metric} ${figure} of ${n_scored}; one cell, so there is nothing to compare.`,
      ...sliceTable(slices, metrics),
    ].join("\n"),
  };
}

/** In the tables a cell is called by its prompt and model. */
function named(found: Comparison, cells: readonly Cell[]): Comparison {
  const [baseline = found.baseline] = renamed([found.baseline], cells);
  return { ...found, baseline, runs: renamed(found.runs, cells) };
}

function renamed<T extends { readonly run: string }>(
  rows: readonly T[],
  cells: readonly Cell[],
): T[] {
  const names = new Map(cells.map(({ run, name }) => [run, name]));
  return rows.map((one) => ({ ...one, run: names.get(one.run) ?? one.run }));
}
