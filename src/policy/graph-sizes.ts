/**
 * The sizes that graphs are made for. A graph has fixed sizes, and making one takes longer than running
 * it, so sizes are rounded up: few graphs serve all batches.
 */

/** A single row is multiplied by kernels that round differently. */
export const LEAST_ROWS = 2;

/** A power of two. */
export function roundedRows(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(count, LEAST_ROWS)));
}

/** The shortest step; from 128 tokens on, steps are an eighth to a quarter of the length. */
const STEP = 16;

/** Tokens of a row or a pack: 32 lengths up to 8,192. */
export function roundedLength(length: number): number {
  const step = Math.max(STEP, 2 ** Math.floor(Math.log2(Math.max(length - 1, 1))) / 4);
  return Math.max(step, Math.ceil(length / step) * step);
}

/** Packs of a part: up to 16 as it is, then in steps of an eighth to a sixteenth. */
export function roundedPacks(count: number): number {
  const step = Math.max(1, 2 ** Math.floor(Math.log2(count)) / 8);
  return Math.ceil(count / step) * step;
}

/** Predicted tokens of a part, in eighths of all its tokens; no more than those and one to spare. */
export function roundedTargets(targets: number, tokens: number): number {
  const step = Math.ceil(tokens / 8);
  return Math.min(Math.ceil(targets / step) * step, Math.max(targets, tokens + 1));
}

/** Learned tokens of a row. */
export function roundedActions(count: number): number {
  return Math.ceil(count / 8) * 8;
}
