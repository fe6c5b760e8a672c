/**
 * Loop B. Scores every sample with the scorer of Loop A, picks one of the first N per example, and
 * writes a run. The chosen output changes; the policy that drew the samples does not.
 */

import { usageError } from "../core/errors.ts";
import {
  type Example,
  type ExampleFields,
  type Sample,
  type SelectionPack,
  toExample,
  toSelectionPack,
} from "../core/records.ts";
import { rngAt, shuffled } from "../core/rng.ts";
import type { CheckedScore, GuardedScorer, ScoreRequest } from "../core/score.ts";
import { RESULTS } from "../runs/artifacts.ts";
import { observeOccasion } from "../runs/manifest.ts";
import type { FolderOptions } from "../runs/may-write.ts";
import { filesAmong, openRows, type RowSource } from "../runs/rows.ts";
import { RunFolder } from "../runs/run-folder.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { type FinishedRun, finishScoredRun } from "../runs/scored-run.ts";
import { withScorer } from "../scorers/open.ts";
import type { ScoredSample } from "./decide.ts";
import { describeRun } from "./describe.ts";
import { ExampleFingerprints } from "./examples.ts";
import { inOrder } from "./in-order.ts";
import { type Pair, pair, type Unknown } from "./join.ts";
import { passAtKCharts } from "./pass-at-k-chart.ts";
import { missing, resultRow, rowJson, type ScoredSamples } from "./row.ts";
import type { ScoringOptions } from "./scoring-options.ts";
import type { SelectionPolicy } from "./selection-policy.ts";
import { SelectionTally } from "./selection-tally.ts";

/**
 * What `select` is given.
 *
 * @see {@link select}
 */
export interface SelectOptions<F extends object = ExampleFields>
  extends Pick<FolderOptions, "force">,
    ScoringOptions<F> {
  /** Packs of samples: id, samples. */
  readonly samples: RowSource<SelectionPack>;
  readonly outdir: string;
  readonly policy: SelectionPolicy;
  /** How many samples of each pack may be chosen from. */
  readonly n: number;
}

/** Few, because each brings many samples and all of them are alive while they are scored. */
const PACKS_AT_ONCE = 16;

/**
 * Loop B: scores every sample, picks one of the first `n` per example, and writes a run.
 *
 * @example
 * ```ts
 * import { builtInPolicy, select } from "lockedroom";
 *
 * const { summary } = await select({
 *   dataset: "dataset.jsonl",
 *   samples: "samples.jsonl",
 *   outdir: "runs/best-of-4",
 *   policy: builtInPolicy("best"),
 *   n: 4,
 * });
 * console.log(summary.metrics.pass_at_1, summary.metrics.pass_at_n);
 * ```
 */
export async function select<F extends object = ExampleFields>(
  options: SelectOptions<F>,
): Promise<FinishedRun> {
  return withScorer(options.scorer, options, (scorer) => selectWith(scorer, options));
}

async function selectWith<F extends object>(
  scorer: GuardedScorer,
  options: SelectOptions<F>,
): Promise<FinishedRun> {
  const occasion = observeOccasion();
  const run = await RunFolder.open(options.outdir, "select", {
    force: options.force,
    inputs: filesAmong(options.dataset, options.samples),
  });
  try {
    const results = await run.lines(RESULTS);
    const dataset = openRows(options.dataset, "dataset", toExample, options);
    const packs = openRows(options.samples, "samples", toSelectionPack, options);
    const unknown: Unknown = { count: 0, first_ids: [] };
    const examples = new ExampleFingerprints();
    const tally = new SelectionTally(options.n);

    const scored = inOrder(
      examples.watch(pair(dataset, packs, unknown, PACKS_AT_ONCE)),
      scorer.concurrency,
      (batch) => scorePacks(scorer, batch),
    );
    for await (const batch of scored) {
      for (const pack of batch) {
        const row = selectRow(options, pack.example, pack.samples);
        tally.addPack(row, pack.samples);
        results.add(rowJson(row, pack));
      }
      await results.flush();
    }

    if (options.policy.needsAnswers && !tally.sawAnswers) throw noAnswers(options.policy, scorer);
    const manifest = await describeRun({
      loop: "B",
      command: "selection-demo",
      dataset,
      answers: packs,
      role: "samples",
      examples: examples.identity(),
      answersSha256: null,
      scorer,
      selection: { n: options.n, ...options.policy.identity },
      settings: {},
      occasion: await occasion(),
    });
    return await finishScoredRun(run, {
      manifest,
      findings: {
        metrics: tally.selectionMetrics,
        outcomes: { counts: { ...tally.counts } },
        unknown_completions: unknown,
        alarms: tally.alarms,
      },
      title: `Selection by ${options.policy.identity.rule}, n = ${options.n}`,
      happened: tally.selectionSentence,
      remarks: tally.remarks,
      concrete: tally.twoExamples,
      files: await passAtKCharts(tally.passAtK),
    });
  } catch (error) {
    await run.leave();
    throw error;
  }
}

function noAnswers(policy: SelectionPolicy, scorer: GuardedScorer): Error {
  return usageError(
    `the rule ${policy.identity.rule} goes by parsed answers, and ${scorer.identity.name} gives none`,
    "Use --rule best, or have the scorer say what it read in details.parsed.",
  );
}

interface ScoredPack extends ScoredSamples {
  readonly example: Example;
}

/** A pack often says the same thing many times; each text is scored once. */
async function scorePacks(
  scorer: GuardedScorer,
  pairs: Pair<SelectionPack>[],
): Promise<ScoredPack[]> {
  const requests: ScoreRequest[] = [];
  const packs = pairs.map(({ example, answer }) => {
    const start = requests.length;
    const firsts = new Map<string, number>();
    const firstOf = answer?.samples.map((sample, index) => {
      const completion = textOf(sample);
      const first = firsts.get(completion);
      if (first !== undefined) return first;
      firsts.set(completion, index);
      requests.push({ example, completion });
      return index;
    });
    return { start, firstOf };
  });
  const judged = await scorer.scoreBatch(requests);
  return pairs.map(({ example, answer }, i) => {
    const { start, firstOf } = packs[i] as (typeof packs)[number];
    let next = start;
    const samples: ScoredSample[] = [];
    for (const [index, sample] of (answer?.samples ?? []).entries()) {
      const first = firstOf?.[index] as number;
      const twin =
        first === index ? (judged[next++] as CheckedScore) : (samples[first] as CheckedScore);
      samples.push(scoredSample(index, sample, twin));
    }
    return { example, samples: answer && samples, firstOf };
  });
}

function scoredSample(index: number, sample: string | Sample, judged: CheckedScore): ScoredSample {
  return {
    index,
    completion: textOf(sample),
    sum_logprob: (typeof sample === "string" ? null : sample.sum_logprob) ?? null,
    sum_ref_logprob: (typeof sample === "string" ? null : sample.sum_ref_logprob) ?? null,
    reward: judged.reward,
    code: judged.code,
    details: judged.details,
  };
}

function textOf(sample: string | Sample): string {
  return typeof sample === "string" ? sample : sample.completion;
}

function selectRow(
  { policy, n }: Pick<SelectOptions, "policy" | "n">,
  example: Example,
  samples: readonly ScoredSample[] | undefined,
): ResultRow {
  const candidates = samples?.slice(0, n) ?? [];
  const [first] = candidates;
  if (!first) {
    const why = samples ? "its pack is empty" : "no pack names this example";
    return resultRow(example, undefined, missing(why));
  }
  const chosen = policy.decide(example, candidates);
  const row = resultRow(example, { id: example.id, ...chosen }, chosen);
  row.baseline = choice(first);
  row.selected = choice(chosen);
  if (!isStable(policy, example, candidates, chosen)) row.unstable = true;
  return row;
}

/** Decides again, by a fresh copy of the policy, on the same samples in other orders. */
function isStable(
  { decideAgain }: SelectionPolicy,
  example: Example,
  candidates: readonly ScoredSample[],
  chosen: ScoredSample,
): boolean {
  if (!decideAgain) return true;
  return [1, 2, 3, 4].every((time) => {
    const order = shuffled(candidates, rngAt("selection", example.id, time));
    return decideAgain(example, order).completion === chosen.completion;
  });
}

function choice({ index, reward, code }: ScoredSample): NonNullable<ResultRow["selected"]> {
  return { index, reward, outcome_code: code };
}
