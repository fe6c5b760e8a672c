/** Reward subject to a limit on cost: a price for each unit of cost, raised while the limit is broken. */

import type { Memory } from "../algorithm.ts";

export interface CostSettings {
  readonly limit: number;
  readonly rate: number;
  readonly start: number;
}

export function priceOf(settings: CostSettings | null, memory: Memory): number {
  if (!settings) return 0;
  return (memory.price as number | undefined) ?? settings.start;
}

/** Dual ascent: the price never falls below 0. */
export function nextPrice({ limit, rate }: CostSettings, price: number, cost: number): number {
  return Math.max(0, price + rate * (cost - limit));
}
