/** Lengths are rounded up, so that few graphs are needed and little padding is computed. */

/** The shortest step; from 128 tokens on, steps are an eighth to a quarter of the length. */
const STEP = 16;

/** The next length that graphs are made for: 32 of them up to 8,192. */
export function stepLength(length: number): number {
  const step = Math.max(STEP, 2 ** Math.floor(Math.log2(Math.max(length - 1, 1))) / 4);
  return Math.max(step, Math.ceil(length / step) * step);
}
