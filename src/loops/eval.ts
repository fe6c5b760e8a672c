/**
 * Loop A. Scores one completion per example and writes a run. Nothing learns here: if two runs
 * differ, either the completions or the conditions of measurement did.
 */

import { SequenceFingerprint } from "../core/fingerprint.ts";
import { type Completion, type ExampleFields, toCompletion } from "../core/records.ts";
import type { GuardedScorer } from "../core/score.ts";
import { MANIFEST_SCHEMA, RESULTS } from "../runs/artifacts.ts";
import type { RowSource } from "../runs/rows.ts";
import type { FolderOptions } from "../runs/run-folder.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { type FinishedRun, finishScoredRun } from "../runs/scored-run.ts";
import type { Joined } from "./join.ts";
import { missing, resultRow, rowJson } from "./row.ts";
import { type ScoringOptions, withScoringRun } from "./scoring-run.ts";
import { Tally } from "./tally.ts";

/** What `evaluate` is given. @see {@link evaluate} */
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
 * @example
 * ```ts
 * import { evaluate } from "lockedroom";
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
  const { completions, maxExamples } = options;
  const answers = {
    rows: completions,
    ...{ label: "completions", role: "completions" as const, parse: toCompletion, maxExamples },
  };
  return withScoringRun("eval", options, answers, async (run) => {
    const results = await run.folder.lines(RESULTS);
    const answered = new SequenceFingerprint();
    const tally = new Tally();
    for await (const rows of run.scored((batch) => scoreBatch(run.scorer, batch))) {
      for (const row of rows) {
        tally.add(row);
        answered.add(JSON.stringify([row.id, row.completion]));
        results.add(rowJson(row));
      }
      await results.flush();
    }
    return finishScoredRun(run.folder, {
      manifest: {
        ...(await run.describe()),
        ...{ schema: MANIFEST_SCHEMA, loop: "A", command: "eval" },
        answers_sha256: answered.digest(),
        ...{ selection: null, learning: null, device: null },
        settings: { max_examples: maxExamples ?? null, scorer_timeout_ms: run.scorer.timeoutMs },
      },
      findings: {
        metrics: tally.metrics,
        outcomes: { counts: { ...tally.counts } },
        unknown_completions: run.unknown,
        alarms: [],
      },
      title: "Evaluation",
      happened: tally.sentence,
      concrete: tally.twoExamples,
    });
  });
}

export async function scoreBatch(
  scorer: GuardedScorer,
  batch: Joined<Completion>[],
): Promise<ResultRow[]> {
  const present = batch.flatMap(({ example, answer }) =>
    answer ? [{ example, completion: answer.completion }] : [],
  );
  const scores = (await scorer.scoreBatch(present)).values();
  return batch.map(({ example, answer }) =>
    resultRow(
      example,
      answer,
      (answer && scores.next().value) ?? missing("no completion names this example"),
    ),
  );
}
