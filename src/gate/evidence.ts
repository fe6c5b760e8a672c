/** Reads both runs' rows side by side: are they whole, are they paired, and what changed? */

import { canonicalJson } from "../core/json.ts";
import { visible } from "../core/visible.ts";
import type { GateReport, Reason } from "../runs/gate-report.ts";
import type { Run } from "../runs/reader.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { DifferenceCounts } from "../stats/difference-counts.ts";
import { Side } from "./side.ts";

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
  const instrument = new Instrument();
  let strangers: Reason | undefined;
  let unpaired: [string | null, string | null] | undefined;
  for await (const [before, after] of sideBySide(sides)) {
    if (before?.id !== after?.id) unpaired ??= [before?.id ?? null, after?.id ?? null];
    if (!before || !after || unpaired) continue;
    if (!altered.compare(before, after)) instrument.compare(before, after);
    strangers ??= notAmong(before, after);
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
      ...instrument.reasons(),
      ...(strangers ? [strangers] : []),
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

/** The same answer to the same example must get the same verdict, whatever the manifests say. */
class Instrument {
  #first: Reason | undefined;
  #count = 0;

  compare(before: ResultRow, after: ResultRow): void {
    const known = new Map(verdicts(before));
    for (const [completion, verdict] of verdicts(after)) {
      const other = known.get(completion);
      if (other === undefined || other === verdict) continue;
      this.#count++;
      this.#first ??= {
        code: "instrument_inconsistent",
        message: `${visible(before.id)}: the same completion was scored differently.`,
        baseline: other,
        candidate: verdict,
      };
    }
  }

  reasons(): Reason[] {
    if (!this.#first) return [];
    const message = `${this.#first.message} ${this.#count} such ${this.#count === 1 ? "case" : "cases"}: the scorer depends on something besides its code and its input.`;
    return [{ ...this.#first, message }];
  }
}

/** An evaluation and a selection compare only if what was evaluated is the first of the samples. */
function notAmong(before: ResultRow, after: ResultRow): Reason | undefined {
  if ((before.samples === undefined) === (after.samples === undefined)) return undefined;
  const [plain, packed] = before.samples ? [after, before] : [before, after];
  const first = packed.samples?.[0]?.completion ?? null;
  if (plain.completion === first) return undefined;
  const [baseline, candidate] = before.samples
    ? [first, plain.completion]
    : [plain.completion, first];
  return {
    code: "samples_differ",
    message: `${visible(before.id)}: what was evaluated is not the first of the samples that were chosen from.`,
    baseline,
    candidate,
  };
}

/** Each text that a row judges with what was said of it; unjudged ones say nothing. */
function verdicts(row: ResultRow): [completion: string, verdict: string][] {
  return (row.samples ?? [row]).flatMap(({ completion, reward, outcome_code: code }) =>
    completion === null || reward === null ? [] : [[completion, `${code} with reward ${reward}`]],
  );
}

/** Names the first example whose content differs, which a fingerprint cannot. */
class Altered {
  readonly #first = new Map<
    "expected_answer" | "prompt",
    { count: number; before: ResultRow; after: ResultRow }
  >();

  /** True when the example is not the same. */
  compare(before: ResultRow, after: ResultRow): boolean {
    let differs = false;
    for (const field of ["expected_answer", "prompt"] as const) {
      if (
        before[field] === after[field] ||
        canonicalJson(before[field]) === canonicalJson(after[field])
      )
        continue;
      differs = true;
      const known = this.#first.get(field);
      if (known) known.count++;
      else this.#first.set(field, { count: 1, before, after });
    }
    return differs;
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
  const [before, after] = [alarmsOf(baseline), alarmsOf(candidate)];
  const codes = new Set([...before, ...after].map(({ code }) => code));
  return [...codes].sort().map((code) => ({
    code,
    message: [...after, ...before].find((alarm) => alarm.code === code)?.message ?? "",
    baseline: before.some((alarm) => alarm.code === code) ? "alarm" : "no alarm",
    candidate: after.some((alarm) => alarm.code === code) ? "alarm" : "no alarm",
  }));
}

/** The rows speak for themselves, should the summary be silent. */
function alarmsOf({ run, unstable }: Side): Run["summary"]["alarms"] {
  const known = run.summary.alarms;
  if (unstable === 0 || known.some(({ code }) => code === NONDETERMINISTIC)) return known;
  return [...known, { code: NONDETERMINISTIC, message: `${unstable} rows are marked unstable.` }];
}

const NONDETERMINISTIC = "nondeterministic_selection";

function notPaired([baseline, candidate]: [string | null, string | null]): Reason {
  return {
    code: "rows_not_paired",
    message: "The rows do not name the same examples in the same order; from here on they differ.",
    baseline,
    candidate,
  };
}
