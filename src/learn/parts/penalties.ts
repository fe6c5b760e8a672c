/** What is subtracted from rewards or added to the loss: the KL coefficient and the price of cost. */

import type { KlEstimator } from "../../engine/loss.ts";

export interface KlControl {
  readonly mode: "none" | "fixed" | "adaptive";
  readonly coefficient: number;
  readonly estimator: KlEstimator;
  /** Of the adaptive mode: the KL per completion to steer for, and over how many completions. */
  readonly target: number;
  readonly horizon: number;
}

/** The coefficient of the first step. */
export function startCoefficient({ mode, coefficient }: KlControl): number {
  return mode === "none" ? 0 : coefficient;
}

/** A proportional controller with a bounded error (Ziegler and others, 2019, section 2.2). */
export function nextCoefficient(
  { mode, target, horizon }: KlControl,
  coefficient: number,
  seen: number,
  completions: number,
): number {
  if (mode !== "adaptive") return coefficient;
  const error = Math.min(Math.max(seen / target - 1, -0.2), 0.2);
  // A batch beyond the horizon moves it no more than the whole horizon would: it stays above 0.
  return coefficient * (1 + error * Math.min(completions / horizon, 1));
}

export interface CostLimit {
  readonly limit: number;
  readonly rate: number;
  readonly start: number;
}

/** Dual ascent: the price never falls below 0. */
export function nextPrice({ limit, rate }: CostLimit, price: number, cost: number): number {
  return Math.max(0, price + rate * (cost - limit));
}
