/** Counts what judging came to: groups, those without a verdict, tokens and their cost. */

import { type GroupVerdict, isDropped } from "../core/judge.ts";
import type { Prices } from "../loops/rollout-tally.ts";
import type { JudgeSummary } from "../runs/judge-schemas.ts";
import { DroppedGroups } from "./dropped.ts";

const PER = 1_000_000;

export class JudgeTally {
  readonly #dropped: DroppedGroups;
  #identical = 0;
  readonly #tokens = { prompt_tokens: 0, completion_tokens: 0 };

  constructor(limits: ConstructorParameters<typeof DroppedGroups>[0]) {
    this.#dropped = new DroppedGroups(limits);
  }

  /** Throws when too many groups have no verdict. */
  add(verdict: GroupVerdict): void {
    this.#tokens.prompt_tokens += verdict.tokens.prompt_tokens;
    this.#tokens.completion_tokens += verdict.tokens.completion_tokens;
    if (!isDropped(verdict) && verdict.identical) this.#identical++;
    this.#dropped.add(verdict);
  }

  summary(prices: Prices | undefined): JudgeSummary {
    this.#dropped.requireFew();
    const { prompt_tokens: read, completion_tokens: written } = this.#tokens;
    const counts = Object.entries(this.#dropped.counts).filter(([, count]) => count > 0);
    return {
      groups: this.#dropped.groups - this.#dropped.dropped,
      identical: this.#identical,
      dropped: Object.fromEntries(counts),
      ...this.#tokens,
      price_in: prices?.in ?? null,
      price_out: prices?.out ?? null,
      total: prices ? (read * prices.in + written * prices.out) / PER : null,
    };
  }
}
