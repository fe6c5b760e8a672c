/** Groups a run's rows by outcome code, with concrete examples of each. */

import { dataError } from "../core/errors.ts";
import { hasPassed } from "../core/score.ts";
import type { Run } from "../runs/reader.ts";
import type { ResultRow } from "../runs/schemas.ts";

export interface InspectOptions {
  /** Leave out rows that pass. */
  readonly onlyFails?: boolean | undefined;
  /** Show at most this many groups, the largest first. */
  readonly topK?: number | undefined;
  /** Concrete rows per group. */
  readonly show?: number | undefined;
}

export interface OutcomeGroup {
  readonly code: string;
  readonly count: number;
  /** The first rows with this code, in input order. */
  readonly rows: readonly ResultRow[];
}

export interface Inspection {
  readonly groups: readonly OutcomeGroup[];
  /** Groups that `topK` left out. */
  readonly hidden: number;
  readonly total: number;
  /** False when results.jsonl is not what the run wrote. */
  readonly intact: boolean;
}

/**
 * Groups a run's rows by outcome code, the commonest first, with the first rows of each.
 * @example
 * ```ts
 * import { inspectRun, openRun } from "lockedroom";
 * const { groups } = await inspectRun(await openRun("runs/baseline"), { onlyFails: true });
 * for (const { code, count } of groups) console.log(code, count);
 * ```
 */
export async function inspectRun(run: Run, options: InspectOptions = {}): Promise<Inspection> {
  const { onlyFails = false, topK = Number.POSITIVE_INFINITY, show = 3 } = options;
  const groups = new Map<string, { code: string; count: number; rows: ResultRow[] }>();
  const results = run.results();
  for await (const batch of results.batches()) {
    for (const row of batch) {
      if (onlyFails && hasPassed(row)) continue;
      const group = groups.get(row.outcome_code) ?? { code: row.outcome_code, count: 0, rows: [] };
      groups.set(row.outcome_code, group);
      group.count++;
      if (group.rows.length < show) group.rows.push(row);
    }
  }
  const largestFirst = [...groups.values()].sort(
    (a, b) => b.count - a.count || (a.code < b.code ? -1 : 1),
  );
  return {
    groups: largestFirst.slice(0, topK),
    hidden: Math.max(0, largestFirst.length - topK),
    total: results.rows,
    intact: results.sha256 === run.summary.results_sha256 && run.manifestIntact,
  };
}

/** The complete rows of an example: one, or with `--repeats` one for each sample. */
export async function findRows(run: Run, id: string): Promise<ResultRow[]> {
  const found: ResultRow[] = [];
  for await (const batch of run.results().batches()) {
    const rows = batch.filter((row) => row.id === id);
    // Samples of one example follow each other.
    if (rows.length === 0 && found.length > 0) break;
    found.push(...rows);
  }
  if (found.length > 0) return found;
  throw dataError(
    `the run ${run.dir} has no row with the id ${JSON.stringify(id)}`,
    "List ids with inspect-run --show 20.",
  );
}
