/** Reads both runs' rows side by side: are they whole, are they paired, and what changed? */

import { canonicalJson } from "../core/json.ts";
import { MISSING_COMPLETION, passes, SCORER_ERROR } from "../core/score.ts";
import type { JsonlFile } from "../runs/jsonl.ts";
import type { Run } from "../runs/reader.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { DifferenceCounts } from "../stats/difference-counts.ts";
import type { GateReport, Reason } from "./report.ts";

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
  for (;;) {
    const [before, after] = [await sides[0].next(), await sides[1].next()];
    if (!before && !after) break;
    if (before?.id !== after?.id) unpaired ??= [before?.id ?? null, after?.id ?? null];
    if (before && after && !unpaired) altered.compare(before, after);
    if (!before || !after || unpaired || before.reward === null || after.reward === null) continue;
    const change = after.reward - before.reward;
    differences.add(change);
    if (change === 0) continue;
    flips[change > 0 ? "gained" : "lost"]++;
    if (flips.first.length < FIRST_FLIPS) {
      flips.first.push({
        id: before.id,
        baseline: before.outcome_code,
        candidate: after.outcome_code,
        change,
      });
    }
  }
  return {
    violations: [
      ...integrity(sides),
      ...altered.reasons(),
      ...unjudged(sides),
      ...(unpaired ? [notPaired(unpaired)] : []),
    ],
    baseline: sides[0].report(),
    candidate: sides[1].report(),
    differences,
    binary: sides.every(({ binary }) => binary),
    flips,
  };
}

/** One run's rows, counted again as they pass; the summary's word is not taken for it. */
class Side {
  readonly run: Run;
  readonly #file: JsonlFile<ResultRow>;
  readonly #batches: AsyncGenerator<ResultRow[], void, void>;
  #batch: ResultRow[] = [];
  #index = 0;
  binary = true;
  judged = 0;
  passed = 0;
  missing = 0;
  broken = 0;
  #rewards = 0;

  constructor(run: Run) {
    this.run = run;
    this.#file = run.results();
    this.#batches = this.#file.batches();
  }

  async next(): Promise<ResultRow | undefined> {
    if (this.#index === this.#batch.length) {
      const step = await this.#batches.next();
      if (step.done) return undefined;
      this.#batch = step.value;
      this.#index = 0;
    }
    const row = this.#batch[this.#index++] as ResultRow;
    this.#count(row);
    return row;
  }

  #count({ reward, outcome_code: code }: ResultRow): void {
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
      message: `${count} ${count === 1 ? "example has" : "examples have"} another ${field.replace("_", " ")}; the first is ${before.id}.`,
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

function notPaired([baseline, candidate]: [string | null, string | null]): Reason {
  return {
    code: "rows_not_paired",
    message: "The rows do not name the same examples in the same order; from here on they differ.",
    baseline,
    candidate,
  };
}
