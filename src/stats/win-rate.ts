/** How often one of two was better, where some comparisons end in a tie. */

import { requireCount, requireLevel } from "./_checks.ts";
import { binomialTail } from "./binomial.ts";
import { normalQuantile } from "./normal-quantile.ts";

export interface Comparisons {
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

export interface WinRate {
  readonly n: number;
  /** A tie counts as half; undefined when nothing was compared. */
  readonly rate: number | undefined;
  readonly interval: [low: number, high: number] | undefined;
  /** Two-sided, of an exact sign test over what is no tie; undefined when everything is. */
  readonly pValue: number | undefined;
}

export function winRate({ wins, losses, ties }: Comparisons, confidence = 0.95): WinRate {
  for (const [name, value] of Object.entries({ wins, losses, ties })) requireCount(name, value);
  const n = wins + losses + ties;
  const rate = n === 0 ? undefined : (wins + ties / 2) / n;
  return {
    ...{ n, rate },
    interval: rate === undefined ? undefined : winRateInterval(rate, n, confidence),
    pValue: signTest(wins, losses),
  };
}

/**
 * Wilson's interval with the rate in the place of a share. A tie lies between a win and a loss, so that
 * the rate varies less than a share of the same size: the interval is wide enough.
 */
export function winRateInterval(
  rate: number,
  n: number,
  confidence = 0.95,
): [low: number, high: number] | undefined {
  requireCount("n", n);
  requireLevel("confidence", confidence);
  if (n === 0) return undefined;
  const z = normalQuantile((1 + confidence) / 2);
  const centre = rate * n + (z * z) / 2;
  const half = z * Math.sqrt(n * rate * (1 - rate) + (z * z) / 4);
  const scale = n + z * z;
  return [rate === 0 ? 0 : (centre - half) / scale, rate === 1 ? 1 : (centre + half) / scale];
}

/** Whether two things happen equally often: exact, two-sided; undefined when neither did. */
export function signTest(one: number, other: number): number | undefined {
  if (one + other === 0) return undefined;
  return Math.min(1, 2 * binomialTail(Math.min(one, other), one + other));
}
