/**
 * Loop A. Scores one completion of each example, or several, and writes a run. Nothing learns here: if
 * two runs differ, either the completions or the conditions of measurement did.
 */

import {
  type Completion,
  type ExampleFields,
  type SelectionPack,
  toCompletion,
  toSelectionPack,
} from "../core/records.ts";
import type { GuardedScorer } from "../core/score.ts";
import { slicesOf } from "../core/slices.ts";
import type { RowSource } from "../runs/rows.ts";
import type { FolderOptions } from "../runs/run-folder.ts";
import type { ResultRow } from "../runs/schemas.ts";
import type { FinishedRun } from "../runs/scored-run.ts";
import { AskedFor } from "./asked-for.ts";
import { type Axis, addAxes, type OpenAxis, withAxes } from "./axes.ts";
import { type EvaluationEnd, EvaluationRows } from "./evaluation-rows.ts";
import type { Joined } from "./join.ts";
import { missing, resultRow } from "./row.ts";
import { PACKS_AT_ONCE } from "./score-packs.ts";
import { type JoinedRun, type ScoringOptions, withScoringRun } from "./scoring-run.ts";

/** What `evaluate` is given. @see {@link evaluate} */
export interface EvalOptions<F extends object = ExampleFields>
  extends Pick<FolderOptions, "force">,
    ScoringOptions<F> {
  /** With `repeats`: packs of samples. */
  readonly completions: RowSource<Completion> | RowSource<SelectionPack>;
  readonly outdir: string;
  /** Use only the first so many examples. */
  readonly maxExamples?: number | undefined;
  /** Fields of the examples whose values are reported apart, such as "metadata.topic". */
  readonly slice?: readonly string[] | undefined;
  /** Secondary scorers, measured on every row in the same pass. */
  readonly axes?: readonly Axis[] | undefined;
  /** Score the first so many samples of each example, a row for each. */
  readonly repeats?: number | undefined;
}

/**
 * Loop A: scores one completion of each example, or with `repeats` several, and writes a run.
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
  const asked = await AskedFor.of(options);
  return withAxes(options.axes, options, (axes) => evaluateWith(options, asked, axes));
}

function evaluateWith<F extends object>(
  options: EvalOptions<F>,
  asked: AskedFor,
  axes: readonly OpenAxis[],
): Promise<FinishedRun> {
  const { maxExamples, repeats, slice: fields = [] } = options;
  const shape: RowShape = { fields, repeats, axes };
  return withScoringRun("eval", options, answersOf(options), (run) =>
    writeEvaluation(run, {
      ...{ axes, fields, repeats },
      score: (batch) => scoreBatch(run.scorer, samplesOf(asked.watch(batch), repeats), shape),
      settings: { max_examples: maxExamples ?? null, scorer_timeout_ms: run.scorer.timeoutMs },
      seen: () => asked.require(),
    }),
  );
}

/** What an evaluation consists of, whoever scores. */
interface EvaluationParts<A> extends EvaluationEnd {
  score(batch: Joined<A>[]): Promise<ResultRow[]>;
  /** Once all rows went by. */
  seen?(): void;
}

/** Writes the rows as they are scored, and the run that they make. */
export async function writeEvaluation<A>(
  run: JoinedRun<A>,
  { score, seen, ...end }: EvaluationParts<A>,
): Promise<FinishedRun> {
  const written = await EvaluationRows.open(run.folder);
  for await (const rows of run.scored(score)) await written.add(rows);
  seen?.();
  return written.finish(run, await run.describe(), end);
}

/** Completions, or packs of samples. */
function answersOf<F extends object>({ completions, maxExamples, repeats }: EvalOptions<F>) {
  const common = { rows: completions as RowSource<Completion | SelectionPack>, maxExamples };
  return repeats === undefined
    ? { ...common, label: "completions", role: "completions" as const, parse: toCompletion }
    : {
        ...{ ...common, label: "samples", role: "samples" as const, parse: toSelectionPack },
        batchSize: PACKS_AT_ONCE,
      };
}

/** What rows have besides the score. */
export interface RowShape {
  readonly fields?: readonly string[];
  readonly repeats?: number | undefined;
  readonly axes?: readonly OpenAxis[];
}

/** A completion to be scored; one of several says which. */
type Sampled = Joined<Completion> & { readonly sample?: number };

/** A pack becomes as many completions as are wanted; those that it lacks are missing. */
function samplesOf(
  batch: readonly Joined<Completion | SelectionPack>[],
  repeats: number | undefined,
): Sampled[] {
  if (repeats === undefined) return batch as Joined<Completion>[];
  return (batch as readonly Joined<SelectionPack>[]).flatMap(({ example, answer }) =>
    Array.from({ length: repeats }, (_, sample) => {
      const given = answer?.samples[sample];
      const fields = typeof given === "string" ? { completion: given } : given;
      return { example, sample, answer: fields && { ...fields, id: example.id } };
    }),
  );
}

export async function scoreBatch(
  scorer: GuardedScorer,
  batch: readonly Sampled[],
  { fields = [], repeats, axes = [] }: RowShape = {},
): Promise<ResultRow[]> {
  const present = batch.flatMap(({ example, answer }) =>
    answer ? [{ example, completion: answer.completion }] : [],
  );
  const scores = (await scorer.scoreBatch(present)).values();
  const why =
    repeats === undefined
      ? "no completion names this example"
      : `the example has fewer than ${repeats} samples`;
  const rows = batch.map(({ example, answer, sample }) => {
    const row = resultRow(example, answer, (answer && scores.next().value) ?? missing(why));
    if (sample !== undefined) row.sample = sample;
    if (fields.length > 0) row.slices = slicesOf(example, fields);
    return row;
  });
  await addAxes(
    axes,
    rows,
    batch.map(({ example }) => example),
  );
  return rows;
}
