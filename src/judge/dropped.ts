/** Counts groups without a verdict, and ends the work when they are too many to trust the rest. */

import { dataError, type LockedRoomError } from "../core/errors.ts";
import { DROP_REASONS, DROPPED_LIMIT, type GroupVerdict, isDropped } from "../core/judge.ts";
import { visibleShort } from "../core/visible.ts";

export type DropCounts = Readonly<Record<(typeof DROP_REASONS)[number], number>>;

const WORDS: Record<(typeof DROP_REASONS)[number], string> = {
  no_answer: "no answer",
  refused: "refused",
  invalid_verdict: "invalid verdict",
};

const ADVICE: Record<(typeof DROP_REASONS)[number], string> = {
  no_answer: "Fix what the endpoint reports; if it is only slow, raise --judge-timeout.",
  refused: "Choose another judge or reword the rubric.",
  invalid_verdict:
    "Choose a judge that answers in the JSON format asked for, or raise --judge-max-tokens.",
};

export class DroppedGroups {
  readonly #limit: number;
  readonly #total: number | undefined;
  readonly #counts = { no_answer: 0, refused: 0, invalid_verdict: 0 };
  #groups = 0;
  #example: string | undefined;

  /** With the `total` of groups, `add` throws as soon as the share at the end must pass the limit. */
  constructor({ limit = DROPPED_LIMIT, total }: { limit?: number; total?: number } = {}) {
    this.#limit = limit;
    this.#total = total;
  }

  get groups(): number {
    return this.#groups;
  }

  get dropped(): number {
    return DROP_REASONS.reduce((sum, reason) => sum + this.#counts[reason], 0);
  }

  /** By type. */
  get counts(): DropCounts {
    return { ...this.#counts };
  }

  add(verdict: GroupVerdict): void {
    this.#groups++;
    if (!isDropped(verdict)) return;
    this.#counts[verdict.dropped.type]++;
    this.#example ??= verdict.dropped.message;
    if (this.#total !== undefined && this.dropped > this.#limit * this.#total) throw this.#error();
  }

  /** Throws when the share of dropped groups is above the limit. */
  requireFew(): void {
    if (this.dropped > this.#limit * this.#groups) throw this.#error();
  }

  #error(): LockedRoomError {
    const found = DROP_REASONS.filter((reason) => this.#counts[reason] > 0);
    const types = found.map((reason) => `${WORDS[reason]} ${this.#counts[reason]}`).join(", ");
    const most = found.toSorted((a, b) => this.#counts[b] - this.#counts[a])[0] ?? "no_answer";
    const of = this.#total ?? this.#groups;
    const share = `${Number((100 * this.#limit).toPrecision(3))} %`;
    return dataError(
      `the judge gave no verdict for ${this.dropped} of ${of} groups (${types}), above the limit ` +
        `of ${share}. For example: ${visibleShort(this.#example ?? "", 800)}`,
      `${ADVICE[most]} --judge-dropped-limit sets the limit.`,
    );
  }
}
