/**
 * Loop A. Scores one completion per example and writes a run. Nothing learns here: if two runs
 * differ, either the completions or the conditions of measurement did.
 */

import { SequenceFingerprint } from "../core/fingerprint.ts";
import { type Completion, type ExampleFields, toCompletion, toExample } from "../core/records.ts";
import type { GuardedScorer } from "../core/score.ts";
import { RESULTS } from "../runs/artifacts.ts";
import { observeOccasion } from "../runs/manifest.ts";
import type { FolderOptions } from "../runs/may-write.ts";
import { filesAmong, openRows, type RowSource } from "../runs/rows.ts";
import { RunFolder } from "../runs/run-folder.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { type FinishedRun, finishScoredRun } from "../runs/scored-run.ts";
import { withScorer } from "../scorers/open.ts";
import { describeRun } from "./describe.ts";
import { ExampleFingerprints } from "./examples.ts";
import { inOrder } from "./in-order.ts";
import { type Pair, pair, type Unknown } from "./join.ts";
import { missing, resultRow, rowJson } from "./row.ts";
import type { ScoringOptions } from "./scoring-options.ts";
import { Tally } from "./tally.ts";

/**
 * What `evaluate` is given.
 *
 * @see {@link evaluate}
 */
export interface EvalOptions<F extends object = ExampleFields>
  extends Pick<FolderOptions, "force">,
    ScoringOptions<F> {
  readonly completions: RowSource<Completion>;
  readonly outdir: string;
  /** Use only the first so many examples. */
  readonly maxExamples?: number | undefined;
}

/**
 * Loop A: scores one completion per example and writes a run.
 *
 * @example
 * ```ts
 * import { evaluate } from "lockedroom";
 *
 * const { summary } = await evaluate({
 *   dataset: "dataset.jsonl",
 *   completions: "completions.jsonl",
 *   outdir: "runs/first",
 * });
 * console.log(summary.metrics.pass_rate, summary.outcomes.counts);
 * ```
 */
export async function evaluate<F extends object = ExampleFields>(
  options: EvalOptions<F>,
): Promise<FinishedRun> {
  return withScorer(options.scorer, options, (scorer) => evaluateWith(scorer, options));
}

async function evaluateWith<F extends object>(
  scorer: GuardedScorer,
  options: EvalOptions<F>,
): Promise<FinishedRun> {
  const occasion = observeOccasion();
  const run = await RunFolder.open(options.outdir, "eval", {
    force: options.force,
    inputs: filesAmong(options.dataset, options.completions),
  });
  try {
    const results = await run.lines(RESULTS);
    const dataset = openRows(options.dataset, "dataset", toExample, options);
    const completions = openRows(options.completions, "completions", toCompletion, options);
    const unknown: Unknown = { count: 0, first_ids: [] };
    const examples = new ExampleFingerprints();
    const answers = new SequenceFingerprint();
    const tally = new Tally();

    const pairs = first(
      options.maxExamples ?? Number.POSITIVE_INFINITY,
      pair(dataset, completions, unknown),
    );
    const scored = inOrder(examples.watch(pairs), scorer.concurrency, (batch) =>
      scorePairs(scorer, batch),
    );
    for await (const rows of scored) {
      for (const row of rows) {
        tally.add(row);
        answers.add(JSON.stringify([row.id, row.completion]));
        results.add(rowJson(row));
      }
      await results.flush();
    }

    const manifest = await describeRun({
      loop: "A",
      command: "eval",
      dataset,
      answers: completions,
      role: "completions",
      examples: examples.identity(),
      answersSha256: answers.digest(),
      scorer,
      selection: null,
      settings: { max_examples: options.maxExamples ?? null },
      occasion: await occasion(),
    });
    return await finishScoredRun(run, {
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
    await run.leave();
    throw error;
  }
}

async function scorePairs(scorer: GuardedScorer, pairs: Pair<Completion>[]): Promise<ResultRow[]> {
  const present = pairs.flatMap(({ example, answer }) =>
    answer ? [{ example, completion: answer.completion }] : [],
  );
  const scores = (await scorer.scoreBatch(present)).values();
  return pairs.map(({ example, answer }) =>
    resultRow(
      example,
      answer,
      (answer && scores.next().value) ?? missing("no completion names this example"),
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
