/** How many pass-or-fail pairs rule a loss out, by the probability that the test of the margin does. */

import { logBinomialPmf } from "./binomial.ts";
import { binomialAtMost, lossRuledOut, marginRuledOut } from "./margin.ts";
import { MAX_PAIRS } from "./power.ts";

export interface MarginPower {
  /** Shares of pairs that are gained and lost. */
  readonly gained: number;
  readonly lost: number;
  readonly margin: number;
  readonly alpha: number;
  readonly power?: number | undefined;
}

/** With more flips expected, the score test stands in for the exact one, which it is close to by then. */
const EXACT_POWER = 20;
/** Gains further out than this probability are left out. */
const NEGLIGIBLE = 1e-4;

/** The probability that a loss of `margin` is ruled out with `n` pairs. */
export function powerOfMargin({ gained, lost, margin, alpha }: MarginPower, n: number): number {
  const test = n * (gained + lost) <= EXACT_POWER ? lossRuledOut : marginRuledOutByScore;
  const shareOfRest = gained < 1 ? Math.min(1, lost / (1 - gained)) : 0;
  let total = 0;
  // More gains allow more losses, so the largest number of losses is looked for upwards.
  let losses = -1;
  for (let gains = 0; gains <= n; gains++) {
    const chance = Math.exp(logBinomialPmf(gains, n, gained));
    if (chance < NEGLIGIBLE) {
      if (gains > n * gained) break;
      continue;
    }
    const most = n - gains;
    if (losses < 0 && gained > 0) losses = startOf(test, gains, most, n, { margin, alpha });
    while (losses < most && test(gains, losses + 1, n, margin, alpha)) losses++;
    if (losses >= 0) total += chance * binomialAtMost(Math.min(losses, most), most, shareOfRest);
  }
  return total;
}

type Test = typeof lossRuledOut;

const marginRuledOutByScore: Test = (gained, lost, n, margin, alpha) =>
  marginRuledOut(lost, gained, n, margin, alpha);

/** The largest number of losses with which so many gains still rule the loss out, less than 0 if none. */
function startOf(
  test: Test,
  gains: number,
  most: number,
  n: number,
  { margin, alpha }: Pick<MarginPower, "margin" | "alpha">,
): number {
  let [low, high] = [-1, most + 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (test(gains, middle, n, margin, alpha)) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * About how many pairs rule the loss out with the given power, if as large a share of them flips. To
 * within a fiftieth; undefined when the loss is no smaller than the margin, or a thousand million are not enough.
 */
export function pairsToRuleOut(question: MarginPower): number | undefined {
  const { gained, lost, margin, power = 0.8 } = question;
  if (!(lost - gained < margin)) return undefined;
  const enough = (n: number) => powerOfMargin(question, n) >= power;
  let [few, many] = [0, 16];
  while (!enough(many)) {
    if (many >= MAX_PAIRS) return undefined;
    [few, many] = [many, Math.min(MAX_PAIRS, 2 * many)];
  }
  while (many - few > Math.max(1, many / 50)) {
    const middle = Math.ceil((few + many) / 2);
    if (enough(middle)) many = middle;
    else few = middle;
  }
  return many;
}
