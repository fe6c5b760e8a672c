/** Reward subject to a limit on cost: a price for each unit of cost, raised while the limit is exceeded. */

export interface CostLimit {
  readonly limit: number;
  readonly rate: number;
  readonly start: number;
}

/** Dual ascent: the price never falls below 0. */
export function nextPrice({ limit, rate }: CostLimit, price: number, cost: number): number {
  return Math.max(0, price + rate * (cost - limit));
}
