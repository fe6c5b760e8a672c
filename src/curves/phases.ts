/** The phases of a curve that rises: initial learning, refinement, convergence. */

import { jitter, mean } from "./trend.ts";

export interface CurvePoint {
  readonly step: number;
  readonly value: number;
}

export interface Phases {
  /** The step at which most of the gain was reached; initial learning ends here. */
  readonly refinement: number;
  /** The step from which on the curve stayed near its end; null where it was still moving. */
  readonly convergence: number | null;
  /** From the first smoothed value to the highest. */
  readonly gain: number;
}

/** Share of the gain that ends initial learning. */
const MOST = 2 / 3;
/** Share of the gain that the rest of a converged curve moves by at most, or its fluctuation. */
const NEAR = 0.05;
/** Steps of convergence at least, and their share of the run. */
const CONVERGED = { steps: 10, share: 0.15 };
const FEWEST_POINTS = 8;
/** Standard deviations of the curve's fluctuation that a gain has at least. */
const CLEAR = 4;

/** The rule in words, for a page. */
export const PHASE_RULE = `Rule: the curve is smoothed (mean of neighbours); its gain is its highest value less its first. Initial learning ends where two thirds of the gain are reached. Convergence begins where all later values stay within a twentieth of the gain, or the fluctuation of the curve, of the last one, for at least ${CONVERGED.steps} steps and ${Math.round(100 * CONVERGED.share)} % of the run. No phases where the gain is less than ${CLEAR} times the fluctuation of the curve.`;

/** Undefined where the curve has no clear gain, or too few points. */
export function phasesOf(points: readonly CurvePoint[]): Phases | undefined {
  if (points.length < FEWEST_POINTS) return undefined;
  const curve = smoothed(points);
  const start = curve[0]?.value ?? 0;
  const gain = Math.max(...curve.map(({ value }) => value)) - start;
  if (gain <= CLEAR * jitter(points.map(({ value }) => value))) return undefined;
  const most = curve.find(({ value }) => value >= start + MOST * gain);
  if (!most) return undefined;
  const near = Math.max(NEAR * gain, spreadAround(points, curve));
  return { refinement: most.step, convergence: settledAt(curve, near, most.step), gain };
}

/** Means of a tenth of the points, at least three, as many on either side; fewer near the two ends. */
function smoothed(points: readonly CurvePoint[]): CurvePoint[] {
  const side = Math.max(1, Math.round(points.length / 20));
  return points.map(({ step }, i) => {
    const reach = Math.min(side, i, points.length - 1 - i);
    return { step, value: mean(points.slice(i - reach, i + reach + 1).map(({ value }) => value)) };
  });
}

/** Standard deviation of single values around the smoothed curve, from the median, which a steep start does not move. */
function spreadAround(points: readonly CurvePoint[], curve: readonly CurvePoint[]): number {
  const distances = points.map(({ value }, i) => Math.abs(value - (curve[i]?.value ?? value)));
  const median = distances.sort((a, b) => a - b)[Math.floor(distances.length / 2)] as number;
  // 1.48 for a normal distribution; a mean of three leaves two thirds of the variance.
  return 1.48 * Math.sqrt(1.5) * median;
}

function settledAt(curve: readonly CurvePoint[], near: number, from: number): number | null {
  const [first, last] = [curve[0], curve.at(-1)];
  if (!first || !last) return null;
  const moving = curve.findLastIndex(({ value }) => Math.abs(value - last.value) > near);
  const begin = curve[moving + 1]?.step ?? last.step;
  const settled = Math.max(begin, from);
  const length = last.step - settled;
  const enough = Math.max(CONVERGED.steps, CONVERGED.share * (last.step - first.step));
  return length >= enough ? settled : null;
}
