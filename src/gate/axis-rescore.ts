/** Scores the axes of a run's rows again, where a built-in scored them whose code is here. */

import type { CheckedScore, GuardedScorer, ScoreRequest } from "../core/score.ts";
import { SCORER_ERROR } from "../core/score.ts";
import type { Manifest, ResultRow } from "../runs/schemas.ts";
import { openBuiltIn, requestsOf } from "./rescore.ts";
import type { Differing } from "./row-check.ts";

const BATCH_ROWS = 256;
const FIRST_IDS = 5;

interface Axis {
  readonly name: string;
  readonly scorer: GuardedScorer;
}

export class AxisRescoring {
  readonly #axes: readonly Axis[];
  #pending: ResultRow[] = [];
  #rows = 0;
  readonly #firstIds: string[] = [];

  constructor(axes: readonly Axis[]) {
    this.#axes = axes;
  }

  get differing(): Differing | null {
    return this.#rows === 0 ? null : { rows: this.#rows, first_ids: this.#firstIds };
  }

  /** True when enough rows wait for `settle`. */
  add(row: ResultRow): boolean {
    return row.completion !== null && this.#pending.push(row) >= BATCH_ROWS;
  }

  async settle(): Promise<void> {
    const rows = this.#pending;
    this.#pending = [];
    const differs = new Set<ResultRow>();
    for (const { name, scorer } of this.#axes) {
      const scores = await scorer.scoreBatch(rows.map(requestOf));
      rows.forEach((row, i) => {
        if (!isSame(row.axes?.[name], scores[i])) differs.add(row);
      });
    }
    for (const { id } of differs) {
      this.#rows++;
      if (this.#firstIds.length < FIRST_IDS) this.#firstIds.push(id);
    }
  }

  async finish(): Promise<void> {
    await this.settle();
    for (const { scorer } of this.#axes) await scorer.close();
  }
}

/** The embedded axes treat an expected answer of null and none alike. */
const requestOf = (row: ResultRow): ScoreRequest =>
  requestsOf({ ...row, samples: undefined })[0] as ScoreRequest;

function isSame(
  recorded: NonNullable<ResultRow["axes"]>[string] | undefined,
  score: CheckedScore | undefined,
): boolean {
  if (recorded === undefined) return true;
  // Rows that the scorer failed on are refused for that reason; a failure gives no reward.
  if (recorded.code === SCORER_ERROR && recorded.reward === null) return true;
  return recorded.reward === score?.reward && recorded.code === score.code;
}

/** Undefined where the run has no such axes. */
export async function openAxisRescoring({
  axes = [],
}: Pick<Manifest, "axes">): Promise<AxisRescoring | undefined> {
  const open: Axis[] = [];
  for (const { name, scorer } of axes) {
    const opened = await openBuiltIn(scorer);
    if (opened) open.push({ name, scorer: opened });
  }
  return open.length === 0 ? undefined : new AxisRescoring(open);
}
