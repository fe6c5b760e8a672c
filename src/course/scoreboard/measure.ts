/** The figures of a week, read from the rows of a run. Nothing here is typed by a person. */

import { dataError, fingerprint, MISSING_COMPLETION, passes } from "../../core/index.ts";
import type { ResultRow, Run } from "../../runs/index.ts";
import { classify, OUTCOME_CODES } from "../../scorers/index.ts";
import type { Metrics } from "./week.ts";

export const NOT_MEASURED: Metrics = {
  success: null,
  format_drift: null,
  hallucination_proxy: null,
  mean_length: null,
  kl: null,
  cost: null,
};

/** Both runs must be evidence already. */
export async function measureRun(run: Run, baseline: Run | undefined): Promise<Metrics> {
  if (baseline) refuseOtherRoom(run, baseline);
  const counted = await count(run);
  const before = baseline && (await count(baseline));
  const { judged, passed, known } = counted;
  const format = formatShare(counted);
  const formatBefore = before && formatShare(before);
  const answered = counted.right + counted.wrong;
  // The rows of a microscope are episodes: their reward is no task success, their text no output.
  const texts = run.manifest.loop !== "C";
  return {
    success: !texts || judged === 0 ? null : passed / judged,
    format_drift: format === null || formatBefore == null ? null : format - formatBefore,
    hallucination_proxy: !known || answered === 0 ? null : counted.wrong / answered,
    mean_length:
      !texts || counted.completions === 0 ? null : counted.characters / counted.completions,
    kl: klOf(counted),
    cost: { value: run.manifest.volatile.seconds, unit: "seconds" },
  };
}

/** Drift between two rooms is no drift of the policy. */
function refuseOtherRoom(run: Run, baseline: Run): void {
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
    `${run.dir} and its baseline ${baseline.dir} were made with ${what}, so their difference is no drift`,
    "Name a baseline made with the same data and the same scorer, or leave --baseline out.",
  );
}

class Counted {
  rows = 0;
  judged = 0;
  passed = 0;
  right = 0;
  wrong = 0;
  misformatted = 0;
  completions = 0;
  characters = 0;
  klSum = 0;
  klRows = 0;
  /** The largest KL that a row of a sweep states. */
  largestKl: number | undefined;
  /** Every code is one whose class is known, so that shares of classes mean something. */
  known = true;
  readonly #sweep: boolean;

  constructor({ manifest }: Run) {
    this.#sweep = manifest.command === "kl-tradeoff-demo";
  }

  add(row: ResultRow): void {
    const { outcome_code: code, completion, reward, kl_est: kl } = row;
    this.rows++;
    if (reward !== null) this.judged++;
    if (passes(reward)) this.passed++;
    if (!isKnown(code)) this.known = false;
    if (code === "ok") this.right++;
    if (classify(code) === "model_math") this.wrong++;
    if (classify(code) === "model_format") this.misformatted++;
    if (completion !== null) {
      this.completions++;
      // Characters as a reader counts them, not the halves that JavaScript stores.
      this.characters += [...completion].length;
    }
    if (kl !== undefined) {
      this.klSum += kl;
      this.klRows++;
    }
    // Elsewhere the details are a scorer's, and a name in them means what the scorer likes.
    if (!this.#sweep) return;
    const stated = (row.details as { kl?: unknown } | null)?.kl;
    if (typeof stated === "number") this.largestKl = Math.max(stated, this.largestKl ?? stated);
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

function formatShare({ known, judged, misformatted }: Counted): number | null {
  return !known || judged === 0 ? null : misformatted / judged;
}

function klOf({ klRows, klSum, rows, largestKl }: Counted): Metrics["kl"] {
  if (klRows > 0)
    return { value: klSum / klRows, from: `mean of kl_est, ${klRows} of ${rows} rows` };
  return largestKl === undefined
    ? null
    : { value: largestKl, from: "the largest KL that a row states" };
}

/** What two weeks must share for a line to join them: examples, scorer, loop. */
export function roomOf({ manifest }: Run): string {
  const { examples, scorer, loop, selection } = manifest;
  return fingerprint([examples.sha256, scorer.source_sha256, loop, selection?.n ?? null]);
}
