/** Every row scored again by the recorded scorer, and compared byte for byte. */

import { canonicalJson } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import type { GuardedScorer } from "../core/score.ts";
import { addAxes, type OpenAxis } from "../loops/axes.ts";
import { RULES, type RuleName } from "../loops/decide.ts";
import { scoreBatch } from "../loops/eval.ts";
import { rowJson } from "../loops/row.ts";
import { scorePacks } from "../loops/score-packs.ts";
import { type SelectOptions, selectRow } from "../loops/select.ts";
import {
  builtInPolicy,
  loadSelectionPolicy,
  type SelectionPolicy,
} from "../loops/selection-policy.ts";
import { SelectionTally } from "../loops/selection-tally.ts";
import { Tally } from "../loops/tally.ts";
import type { Run } from "../runs/reader.ts";
import type { ResultRow, Summary } from "../runs/schemas.ts";
import type { VerificationPart } from "../runs/verification.ts";
import { reached } from "./find-input.ts";
import { Comparison, impossible, type OnProgress, Unreachable } from "./part.ts";
import { openRecordedAxes, openRecordedScorer, type ScorerPlaces } from "./recorded-scorer.ts";
import { findDataset, type RowOfRun, rowsOf } from "./scored-rows.ts";

export interface ScoreOptions extends ScorerPlaces {
  /** The file of a selection policy that is not built in. */
  readonly selectionPolicy?: string | undefined;
  /** Only the first so many rows. */
  readonly limit?: number | undefined;
  readonly onProgress?: OnProgress | undefined;
}

export async function verifyScores(run: Run, options: ScoreOptions): Promise<VerificationPart> {
  const { manifest } = run;
  const total = rowCount(run);
  if (manifest.loop === "C")
    return impossible("score", total, "A tabular experiment is repeated by its own command.");
  const timeout = Number(manifest.settings.scorer_timeout_ms) || undefined;
  const opened = await reached(async () => ({
    scorer: await openRecordedScorer(manifest.scorer, options, timeout),
    axes: await openRecordedAxes(manifest.axes, options, timeout),
  }));
  if ("why" in opened) return impossible("score", total, opened.why);
  const { scorer, axes } = opened.value;
  try {
    const done = await reached(() => scoreAgain(run, { scorer, axes }, options));
    return "why" in done ? impossible("score", total, done.why) : done.value;
  } finally {
    for (const one of [scorer, ...axes.map((axis) => axis.scorer)]) await one.close();
  }
}

interface Instruments {
  readonly scorer: GuardedScorer;
  readonly axes: readonly OpenAxis[];
}

async function scoreAgain(
  run: Run,
  { scorer, axes }: Instruments,
  { limit = Number.POSITIVE_INFINITY, onProgress, ...options }: ScoreOptions,
): Promise<VerificationPart> {
  const { manifest } = run;
  const total = rowCount(run);
  const dataset = await reached(() => findDataset(run, options));
  const maker = await makerOf(run, { scorer, axes }, options.selectionPolicy, "value" in dataset);
  // A scorer may look at any field of an example, and rows repeat only three of them.
  const used = [manifest.scorer, ...(manifest.axes ?? []).map((axis) => axis.scorer)];
  if ("why" in dataset && used.some(({ path }) => path !== null))
    throw new Unreachable(dataset.why);
  const comparison = new Comparison();
  const { name, version, spec } = scorer.identity;
  const { name: n, version: v, spec: s } = manifest.scorer;
  if (canonicalJson([name, version, spec]) !== canonicalJson([n, v, s]))
    comparison.differs("manifest.json", "scorer", [name, version, spec], [n, v, s]);
  for await (const batch of rowsOf(run, "value" in dataset ? dataset.value : undefined)) {
    const rows = batch.slice(0, Math.max(0, limit - comparison.repeated));
    if ("why" in dataset && rows.some(isAmbiguous)) throw new Unreachable(dataset.why);
    const made = await maker.make(rows.filter(hasExample));
    for (const { row, example } of rows) {
      const expected = example && made.shift();
      if (expected === canonicalJson(row)) comparison.repeated++;
      else comparison.compare(row.id, expected ? JSON.parse(expected) : {}, row);
    }
    onProgress?.("Scoring again", comparison.repeated, total);
    if (comparison.repeated >= limit) break;
  }
  if (limit === Number.POSITIVE_INFINITY && comparison.differences === 0) {
    compareFigures(comparison, "metrics", maker.metrics(), run.summary.metrics);
    compareFigures(comparison, "axes", maker.axes?.() ?? {}, run.summary.axes ?? {});
  }
  const onAxes = axes.map((axis) => ` and on ${axis.name}`).join("");
  return comparison.part("score", total, `by ${name} ${version}${onAxes}`);
}

/** Rows that are the same must give the numbers of the summary. */
function compareFigures(
  comparison: Comparison,
  kind: "metrics" | "axes",
  expected: Readonly<Record<string, unknown>>,
  found: Readonly<Record<string, unknown>>,
): void {
  for (const [name, value] of Object.entries(expected)) {
    if (canonicalJson(value ?? null) !== canonicalJson(found[name] ?? null))
      comparison.differs("summary.json", `${kind}.${name}`, value, found[name]);
  }
}

function rowCount({ manifest }: Run): number {
  return manifest.examples.count * (Number(manifest.settings.repeats) || 1);
}

type WithExample = RowOfRun & { readonly example: Example };

function hasExample(one: RowOfRun): one is WithExample {
  return one.example !== undefined;
}

/** A row has null both for an expected answer of null and for none, which scorers tell apart. */
function isAmbiguous({ row }: RowOfRun): boolean {
  return row.expected_answer === null;
}

/** Makes the lines of rows again, as the command wrote them, and counts them. */
interface Maker {
  make(rows: readonly WithExample[]): Promise<string[]>;
  /** Of all rows that were made. */
  metrics(): Summary["metrics"];
  axes?(): Summary["axes"];
}

async function makerOf(
  { manifest }: Run,
  { scorer, axes }: Instruments,
  policyFile: string | undefined,
  wholeExamples: boolean,
): Promise<Maker> {
  const { settings } = manifest;
  if (manifest.loop === "A") return evaluationMaker({ scorer, axes }, settings, wholeExamples);
  const policy = await recordedRule(manifest.selection ?? {}, policyFile);
  const selection = { policy, n: Number(manifest.selection?.n), slice: fieldsOf(settings) };
  return selectionMaker({ scorer, axes }, selection, wholeExamples);
}

/** Fields that the run was sliced by. */
function fieldsOf({ slice }: Run["manifest"]["settings"]): string[] {
  return Array.isArray(slice) ? slice.map(String) : [];
}

function evaluationMaker(
  { scorer, axes }: Instruments,
  { repeats, slice = null }: Run["manifest"]["settings"],
  wholeExamples: boolean,
): Maker {
  const tally = new Tally();
  const times = typeof repeats === "number" ? repeats : undefined;
  const fields = fieldsOf({ slice });
  return {
    async make(rows) {
      const joined = rows.map(({ row, example }) => ({
        ...{ example, answer: completionOf(row) },
        ...(row.sample !== undefined && { sample: row.sample }),
      }));
      const made = await scoreBatch(scorer, joined, { fields, repeats: times, axes });
      for (const [i, row] of made.entries()) {
        if (!wholeExamples) keepSlices(row, rows[i]);
        tally.add(row);
      }
      return made.map((row) => rowJson(row));
    },
    metrics: () => ({ ...tally.metrics, ...(times !== undefined && { repeats: times }) }),
    axes: () => tally.axes,
  };
}

/** Without the data set only the row says what slice its example is in. */
function keepSlices(made: ResultRow, written: WithExample | undefined): void {
  const slices = written?.row.slices;
  if (slices) made.slices = slices;
}

function selectionMaker(
  { scorer, axes }: Instruments,
  selection: Pick<SelectOptions, "policy" | "n" | "slice">,
  wholeExamples: boolean,
): Maker {
  const tally = new SelectionTally(selection.n);
  return {
    async make(rows) {
      const packs = rows.map(({ row, example }) => ({ example, answer: packOf(row) }));
      const scored = await scorePacks(scorer, packs);
      const made = scored.map((pack) => selectRow(selection, pack));
      await addAxes(
        axes,
        made,
        rows.map(({ example }) => example),
      );
      return scored.map((pack, i) => {
        const row = made[i] as ResultRow;
        if (!wholeExamples) keepSlices(row, rows[i]);
        tally.addPack(row, pack);
        return rowJson(row, pack.pack && pack);
      });
    },
    metrics: () => tally.selectionMetrics,
    axes: () => tally.axes,
  };
}

function completionOf({ id, completion, sum_logprob, sum_ref_logprob }: ResultRow) {
  if (completion === null) return undefined;
  return { id, completion, ...withLogprobs({ sum_logprob, sum_ref_logprob }) };
}

/** Samples keep no log-probs of the reference; the row has that of the one that was selected. */
function packOf({ id, samples, selected, sum_ref_logprob }: ResultRow) {
  if (samples === undefined) return undefined;
  const list = samples.map(({ completion, sum_logprob }, i) => ({
    completion,
    ...withLogprobs({
      sum_logprob,
      sum_ref_logprob: i === selected?.index ? sum_ref_logprob : undefined,
    }),
  }));
  return { id, samples: list };
}

type Logprobs = Pick<ResultRow, "sum_logprob" | "sum_ref_logprob">;

function withLogprobs({ sum_logprob, sum_ref_logprob }: Logprobs) {
  return {
    ...(sum_logprob !== undefined && { sum_logprob }),
    ...(sum_ref_logprob !== undefined && { sum_ref_logprob }),
  };
}

/** The rule that selected; one of a user's file has to be named, because runs do not keep its path. */
export async function recordedRule(
  { rule, source_sha256: source }: Readonly<Record<string, unknown>>,
  file: string | undefined,
): Promise<SelectionPolicy> {
  if (source === null && Object.hasOwn(RULES, String(rule))) return builtInPolicy(rule as RuleName);
  if (file === undefined)
    throw new Unreachable(
      "A policy of a file selected the samples: verify --selection-policy FILE selects again.",
    );
  const policy = await loadSelectionPolicy(file);
  if (policy.identity.source_sha256 === source) return policy;
  throw new Unreachable(`The selection policy ${file} is not the recorded one.`);
}
