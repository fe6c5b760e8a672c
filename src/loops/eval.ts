/**
 * Loop A. Scores one completion per example and writes a run. Nothing learns here: if two runs
 * differ, either the completions or the conditions of measurement did.
 */

import { FINGERPRINT_VERSION } from "../core/fingerprint.ts";
import { type Completion, type Example, toCompletion, toExample } from "../core/records.ts";
import type { Scoring } from "../core/score.ts";
import { MANIFEST_SCHEMA, SUMMARY_SCHEMA } from "../runs/artifacts.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import { manifestFingerprint, observeOccasion } from "../runs/manifest.ts";
import { runNote, summaryText } from "../runs/note.ts";
import { readProvenance } from "../runs/provenance.ts";
import type { Manifest, ResultRow, Summary, Volatile } from "../runs/schemas.ts";
import { RunWriter, type WriterOptions } from "../runs/writer.ts";
import { ExampleFingerprints } from "./examples.ts";
import { inOrder } from "./in-order.ts";
import { type Pair, pair, type Unknown } from "./pair.ts";
import { missing, resultRow, rowJson } from "./row.ts";
import { Tally } from "./tally.ts";

export interface EvalOptions extends WriterOptions {
  readonly dataset: string;
  readonly completions: string;
  readonly outdir: string;
  readonly scoring: Scoring;
  /** Use only the first so many examples. */
  readonly maxExamples?: number | undefined;
  /** Called with the number of input bytes just read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

export interface EvalOutcome {
  readonly dir: string;
  readonly manifest: Manifest;
  readonly summary: Summary;
}

export async function evaluate(options: EvalOptions): Promise<EvalOutcome> {
  const occasion = observeOccasion();
  const run = await RunWriter.open(options.outdir, options);
  try {
    const dataset = new JsonlFile(options.dataset, toExample, options);
    const completions = new JsonlFile(options.completions, toCompletion, options);
    const unknown: Unknown = { count: 0, first_ids: [] };
    const examples = new ExampleFingerprints();
    const tally = new Tally();

    const pairs = first(
      options.maxExamples ?? Number.POSITIVE_INFINITY,
      pair(dataset, completions, unknown),
    );
    for await (const judged of inOrder(pairs, options.scoring.lanes, (batch) =>
      judge(options.scoring, batch),
    )) {
      for (const { example, row } of judged) {
        examples.add(example);
        tally.add(row);
        run.add(rowJson(row));
      }
      await run.flush();
    }

    const results_sha256 = await run.endResults();
    const manifest = await describeRun(
      options,
      dataset,
      completions,
      examples.identity(),
      await occasion(),
    );
    const summary: Summary = {
      schema: SUMMARY_SCHEMA,
      loop: "A",
      scorer: { name: manifest.scorer.name, version: manifest.scorer.version },
      metrics: tally.metrics,
      outcomes: { counts: { ...tally.counts } },
      unknown_completions: unknown,
      results_sha256,
      manifest_sha256: manifestFingerprint(manifest),
    };
    await run.finish({
      manifest,
      summary,
      summaryText: summaryText("Evaluation", summary),
      note: runNote(manifest, summary, tally.twoExamples, happened(summary)),
    });
    return { dir: options.outdir, manifest, summary };
  } catch (error) {
    await run.abandon();
    throw error;
  }
}

interface Judged {
  readonly example: Example;
  readonly row: ResultRow;
}

async function judge(scoring: Scoring, pairs: Pair<Completion>[]): Promise<Judged[]> {
  const present = pairs.flatMap(({ example, answer }) =>
    answer ? [{ example, completion: answer.completion }] : [],
  );
  const judgements = (await scoring.judge(present)).values();
  return pairs.map(({ example, answer }) => ({
    example,
    row: resultRow(example, answer, (answer && judgements.next().value) ?? missing),
  }));
}

/** The first `limit` pairs; the rest is still read, so that the files are checked and fingerprinted. */
async function* first<T>(
  limit: number,
  batches: AsyncIterable<T[]>,
): AsyncGenerator<T[], void, void> {
  let left = limit;
  for await (const batch of batches) {
    if (left > 0) yield batch.slice(0, left);
    left -= batch.length;
  }
}

async function describeRun(
  options: EvalOptions,
  dataset: JsonlFile<Example>,
  completions: JsonlFile<Completion>,
  examples: Manifest["examples"],
  occasion: Volatile,
): Promise<Manifest> {
  const provenance = await readProvenance(completions.path, completions.sha256);
  return {
    schema: MANIFEST_SCHEMA,
    fingerprint_version: FINGERPRINT_VERSION,
    loop: "A",
    command: "eval",
    inputs: [dataset.asInput("dataset"), completions.asInput("completions")],
    examples,
    scorer: options.scoring.identity,
    prompt: provenance?.prompt ?? null,
    sampling: provenance?.sampling ?? null,
    selection: null,
    policy: provenance?.policy ?? null,
    learning: null,
    device: null,
    settings: {
      max_examples: options.maxExamples ?? null,
      scorer_timeout_ms: options.scoring.timeoutMs,
    },
    volatile: { ...occasion, jobs: options.scoring.lanes },
  };
}

function happened({ metrics, outcomes }: Summary): string {
  if (metrics.pass_rate === null) return "nothing was judged";
  const [code, rows] = Object.entries(outcomes.counts)
    .filter(([name]) => name !== "ok")
    .reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0]);
  return (
    `pass_rate ${metrics.pass_rate.toFixed(4)} (${metrics.n_pass} of ${metrics.n_judged}), ` +
    `mean_reward ${metrics.mean_reward?.toFixed(4)}` +
    (rows > 0 ? `, commonest failure \`${code}\` (${rows})` : "")
  );
}
