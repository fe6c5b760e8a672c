/**
 * Loop B. Scores every sample with the scorer of Loop A, picks one of the first N per example, and
 * writes a run. The chosen output changes; the policy that sampled does not.
 */

import { usageError } from "../core/errors.ts";
import {
  type Example,
  type ExampleFields,
  type SelectionPack,
  toSelectionPack,
} from "../core/records.ts";
import { rngAt, shuffled } from "../core/rng.ts";
import { slicesOf } from "../core/slices.ts";
import { MANIFEST_SCHEMA, RESULTS } from "../runs/artifacts.ts";
import type { RowSource } from "../runs/rows.ts";
import type { FolderOptions } from "../runs/run-folder.ts";
import type { Manifest, ResultRow, RowEpisode, Summary } from "../runs/schemas.ts";
import { type FinishedRun, finishScoredRun } from "../runs/scored-run.ts";
import { type Axis, addAxes, describedAxes, type OpenAxis, withAxes } from "./axes.ts";
import type { ScoredSample } from "./decide.ts";
import type { Joined } from "./join.ts";
import { missing, resultRow, rowJson } from "./row.ts";
import { PACKS_AT_ONCE, type ScoredPack, scorePacks } from "./score-packs.ts";
import { type JoinedRun, type ScoringOptions, withScoringRun } from "./scoring-run.ts";
import type { SelectionPolicy } from "./selection-policy.ts";
import { passAtKCharts, SelectionTally } from "./selection-tally.ts";

/** What `select` is given. @see {@link select} */
export interface SelectOptions<F extends object = ExampleFields>
  extends Pick<FolderOptions, "force">,
    ScoringOptions<F> {
  /** Packs of samples: id, samples. */
  readonly samples: RowSource<SelectionPack>;
  readonly outdir: string;
  readonly policy: SelectionPolicy;
  /** How many samples of each pack may be chosen from. */
  readonly n: number;
  /** Fields of the examples whose values are reported apart, such as "metadata.topic". */
  readonly slice?: readonly string[] | undefined;
  /** Secondary scorers, measured on the selected completion. */
  readonly axes?: readonly Axis[] | undefined;
}

/**
 * Loop B: scores every sample, picks one of the first `n` per example, and writes a run.
 * @example
 * ```ts
 * import { builtInPolicy, select } from "lockedroom";
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
  return withAxes(options.axes, options, (axes) => selectWith(options, axes));
}

function selectWith<F extends object>(
  options: SelectOptions<F>,
  axes: readonly OpenAxis[],
): Promise<FinishedRun> {
  const answers = {
    rows: options.samples,
    ...{ label: "samples", role: "samples" as const, parse: toSelectionPack },
    batchSize: PACKS_AT_ONCE,
  };
  return withScoringRun("select", options, answers, (run) =>
    writeSelection(run, {
      ...{ ...options, axes },
      instrument: run.scorer.identity.name,
      score: (packs) => scorePacks(run.scorer, packs),
      settings: { scorer_timeout_ms: run.scorer.timeoutMs },
    }),
  );
}

/** What a selection consists of, whoever scores. */
interface SelectionParts<A> extends Pick<SelectOptions, "policy" | "n" | "slice"> {
  readonly axes: readonly OpenAxis[];
  /** What scored, by name. */
  readonly instrument: string;
  readonly settings: Manifest["settings"];
  /** What the manifest says besides. */
  readonly described?: Pick<Manifest, "environment" | "split" | "solved" | "judge">;
  readonly failures?: Summary["failures"];
  score(batch: Joined<A>[]): Promise<ScoredPack<unknown>[]>;
}

/** Writes the rows as their samples are scored, and the run that they make. */
export async function writeSelection<A>(
  run: JoinedRun<A>,
  parts: SelectionParts<A>,
): Promise<FinishedRun> {
  const { policy, n, axes, slice: fields = [] } = parts;
  const results = await run.folder.lines(RESULTS);
  const tally = new SelectionTally(n);
  for await (const batch of run.scored(parts.score)) {
    const rows = batch.map((pack) => selectRow(parts, pack));
    await addAxes(
      axes,
      rows,
      batch.map(({ example }) => example),
    );
    for (const [i, pack] of batch.entries()) {
      const row = rows[i] as ResultRow;
      tally.addPack(row, pack);
      results.add(rowJson(row, pack.pack === undefined ? undefined : pack));
    }
    await results.flush();
  }
  if (policy.needsAnswers && !tally.sawAnswers) throw noAnswers(policy, parts.instrument);
  return finishScoredRun(run.folder, {
    manifest: {
      ...(await run.describe()),
      ...{ schema: MANIFEST_SCHEMA, loop: "B", command: "selection-demo" },
      ...parts.described,
      ...describedAxes(axes),
      answers_sha256: null,
      selection: { n, ...policy.identity },
      ...{ learning: null, device: null },
      settings: { ...parts.settings, ...(fields.length > 0 && { slice: [...fields] }) },
    },
    findings: {
      metrics: tally.selectionMetrics,
      outcomes: { counts: { ...tally.counts } },
      ...(tally.slices && { slices: tally.slices }),
      ...(tally.axes && { axes: tally.axes }),
      ...(tally.episodes && { episodes: tally.episodes }),
      ...(parts.failures && { failures: parts.failures }),
      unknown_completions: run.unknown,
      alarms: tally.alarms,
    },
    title: `Selection by ${policy.identity.rule}, n = ${n}`,
    happened: tally.selectionSentence,
    remarks: tally.remarks,
    concrete: tally.twoExamples,
    files: await passAtKCharts(tally.passAtK),
  });
}

function noAnswers(policy: SelectionPolicy, scorer: string): Error {
  return usageError(
    `the rule ${policy.identity.rule} needs parsed answers, and ${scorer} gives none`,
    "Use --rule best, or have the scorer put the answer that it reads in details.parsed.",
  );
}

export function selectRow(
  options: Pick<SelectOptions, "policy" | "n" | "slice">,
  pack: ScoredPack<unknown>,
): ResultRow {
  const { slice: fields = [] } = options;
  const row = decidedRow(options, pack);
  if (fields.length > 0) row.slices = slicesOf(pack.example, fields);
  return row;
}

function decidedRow(
  { policy, n }: Pick<SelectOptions, "policy" | "n">,
  { example, pack, samples, episodes }: ScoredPack<unknown>,
): ResultRow {
  const candidates = samples.slice(0, n);
  const [first] = candidates;
  if (!first) {
    const why = pack ? "its pack is empty" : "no pack names this example";
    return resultRow(example, undefined, missing(why));
  }
  const chosen = policy.decide(example, candidates);
  const row = resultRow(example, { id: example.id, ...chosen }, chosen);
  row.baseline = choice(first);
  row.selected = choice(chosen);
  if (chosen.passed !== undefined) row.passed = chosen.passed;
  if (episodes) row.episode = episodes[chosen.index] as RowEpisode;
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

function choice({ index, reward, code, passed }: ScoredSample): NonNullable<ResultRow["selected"]> {
  return { index, reward, outcome_code: code, ...(passed !== undefined && { passed }) };
}
