/** One pass over the rows of a finished run, which are counted again on the way. */

import { canonicalJson, type JsonObject } from "../../core/json.ts";
import { hasPassed } from "../../core/score.ts";
import { RecountedRun } from "../../gate/recount.ts";
import { openRun } from "../../runs/reader.ts";
import type { Manifest, ResultRow, Summary } from "../../runs/schemas.ts";
import type { SliceRate } from "../../stats/slice-rates.ts";
import { verificationOf } from "../page/verification.ts";
import { editedOf } from "./edited.ts";
import { RowSlices } from "./row-slices.ts";

export interface OutcomeCount {
  readonly code: string;
  count: number;
  passed: number;
}

export interface ScoredRun {
  readonly dir: string;
  readonly manifest: Manifest;
  readonly manifestJson: JsonObject;
  readonly summary: Summary;
  /** Files that are not what the run wrote. */
  readonly edited: readonly string[];
  readonly verification: string | undefined;
  /** Counted from the rows. */
  readonly rows: number;
  readonly scored: number;
  readonly passed: number;
  readonly meanReward: number | null;
  readonly missing: number;
  readonly broken: number;
  /** Examples that the scorer cannot read. */
  readonly invalid: number;
  /** Episodes of an environment that gives no reward. */
  readonly unrewarded: number;
  /** The commonest first. */
  readonly outcomes: readonly OutcomeCount[];
  /** Rows whose codes came when there were too many to count apart. */
  readonly otherOutcomes: number;
  /** By field; undefined without any. */
  readonly slices: Readonly<Record<string, readonly SliceRate[]>> | undefined;
}

/** A run with another code on every row still takes little memory. */
const MAX_CODES = 1000;

/** Calls `see` with every row. `fields` are sliced by besides those of the run. */
export async function readScoredRun(
  dir: string,
  see: (row: ResultRow, manifest: Manifest) => void,
  fields: readonly string[] = [],
): Promise<ScoredRun> {
  const run = await openRun(dir);
  const recount = new RecountedRun(run);
  const outcomes = new OutcomeCounts();
  const slices = await RowSlices.open(run, fields);
  let rows = 0;
  try {
    for (let row = await recount.read(); row; row = recount.buffered() ?? (await recount.read())) {
      recount.count(row);
      outcomes.add(row);
      if (slices.reads) await slices.add(row);
      else slices.addRow(row);
      see(row, run.manifest);
      rows++;
    }
  } finally {
    await recount.close();
    await slices.close();
  }
  const { manifest, summary } = run;
  return {
    ...{ dir, manifest, summary, rows },
    manifestJson: JSON.parse(canonicalJson(manifest)),
    edited: await editedOf(recount),
    verification: await verificationOf(dir),
    scored: recount.scored,
    passed: outcomes.passed,
    meanReward: recount.report().mean_reward,
    ...{ missing: recount.missing, broken: recount.broken, invalid: recount.invalid },
    unrewarded: recount.unrewarded,
    ...{ outcomes: outcomes.sorted, otherOutcomes: outcomes.others },
    slices: slices.table(),
  };
}

class OutcomeCounts {
  readonly #counts = new Map<string, OutcomeCount>();
  others = 0;
  passed = 0;

  add(row: ResultRow): void {
    const { outcome_code: code } = row;
    const passed = hasPassed(row) ? 1 : 0;
    this.passed += passed;
    let outcome = this.#counts.get(code);
    if (!outcome) {
      if (this.#counts.size >= MAX_CODES) {
        this.others++;
        return;
      }
      outcome = { code, count: 0, passed: 0 };
      this.#counts.set(code, outcome);
    }
    outcome.count++;
    outcome.passed += passed;
  }

  get sorted(): OutcomeCount[] {
    return [...this.#counts.values()].sort(
      (a, b) => b.count - a.count || (a.code < b.code ? -1 : 1),
    );
  }
}
