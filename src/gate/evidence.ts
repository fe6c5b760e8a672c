/** Reads both runs' rows side by side: are they whole, are they paired, and what changed? */

import { canonicalJson } from "../core/json.ts";
import { MISSING_COMPLETION, passes, SCORER_ERROR } from "../core/score.ts";
import { visible } from "../core/visible.ts";
import { RowCursor } from "../runs/cursor.ts";
import type { GateReport, Reason } from "../runs/gate-report.ts";
import type { JsonlFile } from "../runs/jsonl.ts";
import type { Run } from "../runs/reader.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { DifferenceCounts } from "../stats/difference-counts.ts";

export interface Evidence {
  readonly violations: Reason[];
  readonly baseline: GateReport["baseline"];
  readonly candidate: GateReport["candidate"];
  readonly differences: DifferenceCounts;
  /** Every reward is 0 or 1, so that counting flips says everything. */
  readonly binary: boolean;
  readonly flips: NonNullable<GateReport["flips"]>;
}

const FIRST_FLIPS = 20;

export async function gatherEvidence(baseline: Run, candidate: Run): Promise<Evidence> {
  const sides = [new Side(baseline), new Side(candidate)] as const;
  const differences = new DifferenceCounts();
  const flips: Evidence["flips"] = { gained: 0, lost: 0, first: [] };
  const altered = new Altered();
  let unpaired: [string | null, string | null] | undefined;
  for await (const [before, after] of sideBySide(sides)) {
    if (before?.id !== after?.id) unpaired ??= [before?.id ?? null, after?.id ?? null];
    if (!before || !after || unpaired) continue;
    altered.compare(before, after);
    if (before.reward === null || after.reward === null) continue;
    const change = after.reward - before.reward;
    differences.add(change);
    if (change === 0) continue;
    flips[change > 0 ? "gained" : "lost"]++;
    if (flips.first.length < FIRST_FLIPS) {
      const [was, is] = [before.outcome_code, after.outcome_code];
      flips.first.push({ id: before.id, baseline: was, candidate: is, change });
    }
  }
  return {
    violations: [
      ...integrity(sides),
      ...altered.reasons(),
      ...unjudged(sides),
      ...alarmed(sides),
      ...(unpaired ? [notPaired(unpaired)] : []),
    ],
    baseline: sides[0].report(),
    candidate: sides[1].report(),
    differences,
    binary: sides.every(({ binary }) => binary),
    flips,
  };
}

/** Row by row to the end of the longer run. */
async function* sideBySide([baseline, candidate]: readonly [Side, Side]): AsyncGenerator<
  [ResultRow | undefined, ResultRow | undefined]
> {
  try {
    for (;;) {
      const before = baseline.buffered() ?? (await baseline.read());
      const after = candidate.buffered() ?? (await candidate.read());
      if (!before && !after) return;
      baseline.count(before);
      candidate.count(after);
      yield [before, after];
    }
  } finally {
    await baseline.close();
    await candidate.close();
  }
}

/** One run's rows, counted again as they pass; the summary's word is not taken for it. */
class Side extends RowCursor<ResultRow> {
  readonly run: Run;
  readonly #file: JsonlFile<ResultRow>;
  binary = true;
  judged = 0;
  passed = 0;
  missing = 0;
  broken = 0;
  #rewards = 0;

  constructor(run: Run) {
    const file = run.results();
    super(file);
    this.run = run;
    this.#file = file;
  }

  count(row: ResultRow | undefined): void {
    if (!row) return;
    const { reward, outcome_code: code } = row;
    if (code === MISSING_COMPLETION) this.missing++;
    else if (code === SCORER_ERROR || reward === null) this.broken++;
    if (reward === null) return;
    this.judged++;
    this.#rewards += reward;
    if (passes(reward)) this.passed++;
    if (reward !== 0 && reward !== 1) this.binary = false;
  }

  /** Which of the run's files is not what was written; empty when all are. */
  edited(): string[] {
    const { metrics, results_sha256: written } = this.run.summary;
    const recounted =
      metrics.n_pass === this.passed &&
      metrics.n_judged === this.judged &&
      metrics.n_examples === this.#file.rows &&
      metrics.pass_rate === (this.judged === 0 ? null : this.passed / this.judged);
    return [
      ...(this.run.manifestIntact ? [] : ["manifest.json"]),
      ...(this.#file.sha256 === written ? [] : ["results.jsonl"]),
      ...(recounted ? [] : ["summary.json"]),
    ];
  }

  report(): GateReport["baseline"] {
    const judged = this.judged;
    return {
      run: this.run.dir,
      pass_rate: judged === 0 ? null : this.passed / judged,
      mean_reward: judged === 0 ? null : this.#rewards / judged,
      n_judged: judged,
    };
  }
}

/** Names the first example whose content differs, which a fingerprint cannot. */
class Altered {
  readonly #first = new Map<
    "expected_answer" | "prompt",
    { count: number; before: ResultRow; after: ResultRow }
  >();

  compare(before: ResultRow, after: ResultRow): void {
    for (const field of ["expected_answer", "prompt"] as const) {
      if (
        before[field] === after[field] ||
        canonicalJson(before[field]) === canonicalJson(after[field])
      )
        continue;
      const known = this.#first.get(field);
      if (known) known.count++;
      else this.#first.set(field, { count: 1, before, after });
    }
  }

  reasons(): Reason[] {
    return [...this.#first].map(([field, { count, before, after }]) => ({
      code: `${field}_altered`,
      message: `${count} ${count === 1 ? "example has" : "examples have"} another ${field.replace("_", " ")}; the first is ${visible(before.id)}.`,
      baseline: before[field],
      candidate: after[field],
    }));
  }
}

function integrity([baseline, candidate]: readonly [Side, Side]): Reason[] {
  const [before, after] = [baseline.edited(), candidate.edited()];
  if (before.length + after.length === 0) return [];
  return [
    {
      code: "run_edited",
      message: "A run's files are not what was written together. Run its command again.",
      baseline: before.length === 0 ? "intact" : `edited: ${before.join(", ")}`,
      candidate: after.length === 0 ? "intact" : `edited: ${after.join(", ")}`,
    },
  ];
}

function unjudged([baseline, candidate]: readonly [Side, Side]): Reason[] {
  const reasons: Reason[] = [];
  if (baseline.missing + candidate.missing > 0) {
    reasons.push({
      code: "missing_completions",
      message:
        "Examples without a completion cannot be compared. Complete the files and evaluate again.",
      baseline: baseline.missing,
      candidate: candidate.missing,
    });
  }
  if (baseline.broken + candidate.broken > 0) {
    reasons.push({
      code: "scorer_errors",
      message:
        "The scorer broke on some rows, so the numbers are not measurements. Mend it and evaluate again.",
      baseline: baseline.broken,
      candidate: candidate.broken,
    });
  }
  return reasons;
}

/** A run that raised an alarm about itself is not evidence. */
function alarmed([baseline, candidate]: readonly [Side, Side]): Reason[] {
  const [before, after] = [baseline, candidate].map(({ run }) => run.summary.alarms) as [
    Alarms,
    Alarms,
  ];
  const codes = new Set([...before, ...after].map(({ code }) => code));
  return [...codes].sort().map((code) => ({
    code,
    message: [...after, ...before].find((alarm) => alarm.code === code)?.message ?? "",
    baseline: before.some((alarm) => alarm.code === code) ? "alarm" : "no alarm",
    candidate: after.some((alarm) => alarm.code === code) ? "alarm" : "no alarm",
  }));
}

type Alarms = Run["summary"]["alarms"];

function notPaired([baseline, candidate]: [string | null, string | null]): Reason {
  return {
    code: "rows_not_paired",
    message: "The rows do not name the same examples in the same order; from here on they differ.",
    baseline,
    candidate,
  };
}
