/** The figures of a week, computed from the rows of a run. */

import { dataError, fingerprint, MISSING_COMPLETION, passes } from "../../core/index.ts";
import type { ResultRow, Run } from "../../runs/index.ts";
import { classify, OUTCOME_CODES } from "../../scorers/index.ts";
import { costOf, klOfParts, type Part } from "./cost.ts";
import { HALLUCINATION_AXIS, type Metrics, WRONG_ANSWERS } from "./week.ts";

const NOT_MEASURED: Metrics = {
  success: null,
  format_drift: null,
  safety_drift: null,
  refusal_drift: null,
  hallucination_proxy: null,
  mean_length: null,
  kl: null,
  cost: null,
};

/** The figures of a week: of its run against the baseline, of its trainings and rollouts. */
export async function measureWeek(
  run: Run | undefined,
  baseline: Run | undefined,
  parts: readonly Part[],
): Promise<Metrics> {
  const rows = run ? await measureRun(run, baseline) : NOT_MEASURED;
  return { ...rows, kl: klOfParts(parts) ?? rows.kl, cost: costOf(run, parts) };
}

/** Both runs must be verified. */
async function measureRun(run: Run, baseline: Run | undefined): Promise<Metrics> {
  if (baseline) refuseOtherConditions(run, baseline);
  const counted = await count(run);
  const before = baseline && (await count(baseline));
  const { scored, passed } = counted;
  const format = formatShare(counted);
  const formatBefore = before && formatShare(before);
  // Rows of a tabular experiment are episodes: their reward is not task success.
  const texts = run.manifest.loop !== "C";
  return {
    success: !texts || scored === 0 ? null : passed / scored,
    format_drift: format === null || formatBefore == null ? null : format - formatBefore,
    safety_drift: axisDrift("safety", run, baseline),
    refusal_drift: axisDrift("refusal", run, baseline),
    hallucination_proxy: hallucinationProxy(run, counted),
    mean_length:
      !texts || counted.completions === 0 ? null : counted.characters / counted.completions,
    kl: klOf(counted),
    cost: null,
  };
}

/** The mean of an axis, where every row has it; an axis is higher for better answers. */
function axisMean(name: string, { summary }: Run): number | null {
  const axis = summary.axes?.[name];
  return axis === undefined || axis.errors > 0 ? null : axis.mean;
}

function axisDrift(name: string, run: Run, baseline: Run | undefined): number | null {
  const [now, before] = [axisMean(name, run), baseline ? axisMean(name, baseline) : null];
  return now === null || before === null ? null : now - before;
}

function hallucinationProxy(run: Run, { known, right, wrong }: Counted) {
  const axis = axisMean("hallucination", run);
  if (axis !== null) return { value: 1 - axis, from: HALLUCINATION_AXIS };
  const answered = right + wrong;
  return !known || answered === 0 ? null : { value: wrong / answered, from: WRONG_ANSWERS };
}

/** A change of data, scorer or loop is not drift of the policy. */
function refuseOtherConditions(run: Run, baseline: Run): void {
  const [now, before] = [run.manifest, baseline.manifest];
  const what =
    now.examples.sha256 !== before.examples.sha256
      ? "other examples"
      : now.scorer.source_sha256 !== before.scorer.source_sha256
        ? "another scorer"
        : now.loop !== before.loop
          ? "another loop"
          : undefined;
  if (what === undefined) return;
  throw dataError(
    `${run.dir} and its baseline ${baseline.dir} were made with ${what}, so their difference is not drift`,
    "Name a baseline made with the same data and the same scorer, or leave --baseline out.",
  );
}

class Counted {
  rows = 0;
  scored = 0;
  passed = 0;
  right = 0;
  wrong = 0;
  misformatted = 0;
  completions = 0;
  characters = 0;
  klSum = 0;
  klRows = 0;
  /** The largest KL in a row of a sweep. */
  largestKl: number | undefined;
  /** Every outcome code has a known class, so that shares of classes are meaningful. */
  known = true;
  readonly #sweep: boolean;

  constructor({ manifest }: Run) {
    this.#sweep = manifest.command === "kl-tradeoff-demo";
  }

  add(row: ResultRow): void {
    const { outcome_code: code, completion, reward, kl_est: kl } = row;
    this.rows++;
    if (reward !== null) this.scored++;
    if (passes(reward)) this.passed++;
    if (!isKnown(code)) this.known = false;
    if (code === "ok") this.right++;
    if (classify(code) === "model_math") this.wrong++;
    if (classify(code) === "model_format") this.misformatted++;
    if (completion !== null) {
      this.completions++;
      // Code points, not UTF-16 units.
      this.characters += [...completion].length;
    }
    if (kl !== undefined) {
      this.klSum += kl;
      this.klRows++;
    }
    // In other runs `details` belongs to the scorer.
    if (!this.#sweep) return;
    const own = (row.details as { kl?: unknown } | null)?.kl;
    if (typeof own === "number") this.largestKl = Math.max(own, this.largestKl ?? own);
  }
}

function isKnown(code: string): boolean {
  return code === MISSING_COMPLETION || (OUTCOME_CODES as readonly string[]).includes(code);
}

async function count(run: Run): Promise<Counted> {
  const counted = new Counted(run);
  for await (const batch of run.results().batches()) for (const row of batch) counted.add(row);
  return counted;
}

function formatShare({ known, scored, misformatted }: Counted): number | null {
  return !known || scored === 0 ? null : misformatted / scored;
}

function klOf({ klRows, klSum, rows, largestKl }: Counted): Metrics["kl"] {
  if (klRows > 0)
    return { value: klSum / klRows, from: `mean of kl_est, ${klRows} of ${rows} rows` };
  return largestKl === undefined ? null : { value: largestKl, from: "the largest KL of a row" };
}

/** Equal for runs with the same examples, scorer, loop and N: only those share a trend line. */
export function conditionsOf({ manifest }: Run): string {
  const { examples, scorer, loop, selection } = manifest;
  return fingerprint([examples.sha256, scorer.source_sha256, loop, selection?.n ?? null]);
}
