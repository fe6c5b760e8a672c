/**
 * Loop A. Scores one completion per example and writes a run. Nothing learns here: if two runs
 * differ, either the completions or the conditions of measurement did.
 */

import { SequenceFingerprint } from "../core/fingerprint.ts";
import { type Completion, toCompletion, toExample } from "../core/records.ts";
import type { GuardedScorer } from "../core/score.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import { observeOccasion } from "../runs/manifest.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { type FinishedRun, RunWriter, type WriterOptions } from "../runs/writer.ts";
import { describeRun } from "./describe.ts";
import { ExampleFingerprints } from "./examples.ts";
import { inOrder } from "./in-order.ts";
import { type Pair, pair, type Unknown } from "./join.ts";
import { missing, resultRow, rowJson } from "./row.ts";
import { Tally } from "./tally.ts";

export interface EvalOptions extends Pick<WriterOptions, "force"> {
  readonly dataset: string;
  readonly completions: string;
  readonly outdir: string;
  readonly scoring: GuardedScorer;
  /** Use only the first so many examples. */
  readonly maxExamples?: number | undefined;
  /** Called with the number of input bytes just read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** Loop A: scores one completion per example and writes a run. */
export async function evaluate(options: EvalOptions): Promise<FinishedRun> {
  const occasion = observeOccasion();
  const run = await RunWriter.open(options.outdir, {
    force: options.force,
    inputs: [options.dataset, options.completions],
  });
  try {
    const dataset = new JsonlFile(options.dataset, toExample, options);
    const completions = new JsonlFile(options.completions, toCompletion, options);
    const unknown: Unknown = { count: 0, first_ids: [] };
    const examples = new ExampleFingerprints();
    const answers = new SequenceFingerprint();
    const tally = new Tally();

    const pairs = first(
      options.maxExamples ?? Number.POSITIVE_INFINITY,
      pair(dataset, completions, unknown),
    );
    const judged = inOrder(examples.watch(pairs), options.scoring.concurrency, (batch) =>
      judge(options.scoring, batch),
    );
    for await (const rows of judged) {
      for (const row of rows) {
        tally.add(row);
        answers.add(JSON.stringify([row.id, row.completion]));
        run.results.add(rowJson(row));
      }
      await run.results.flush();
    }

    const manifest = await describeRun({
      loop: "A",
      command: "eval",
      dataset,
      answers: completions,
      role: "completions",
      examples: examples.identity(),
      answersSha256: answers.digest(),
      scoring: options.scoring,
      selection: null,
      settings: { max_examples: options.maxExamples ?? null },
      occasion: await occasion(),
    });
    return await run.finish({
      manifest,
      findings: {
        metrics: tally.metrics,
        outcomes: { counts: { ...tally.counts } },
        unknown_completions: unknown,
        alarms: [],
      },
      title: "Evaluation",
      happened: tally.sentence,
      concrete: tally.twoExamples,
    });
  } catch (error) {
    await run.abandon();
    throw error;
  }
}

async function judge(scoring: GuardedScorer, pairs: Pair<Completion>[]): Promise<ResultRow[]> {
  const present = pairs.flatMap(({ example, answer }) =>
    answer ? [{ example, completion: answer.completion }] : [],
  );
  const judgements = (await scoring.scoreBatch(present)).values();
  return pairs.map(({ example, answer }) =>
    resultRow(
      example,
      answer,
      (answer && judgements.next().value) ?? missing("no completion names this example"),
    ),
  );
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
