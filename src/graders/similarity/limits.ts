/** The size at which a comparison of every unit with every other one is refused. */

/** About a second of work: two texts of 100,000 characters each. */
export const LARGEST_PRODUCT = 1e10;

/** Texts that are too large for a metric whose work grows with the product of their lengths. */
export class TooLarge extends Error {
  constructor(metric: string, unit: string, lengths: readonly [number, number]) {
    super(
      `${metric} compares at most ${LARGEST_PRODUCT.toExponential(0).replace("+", "")} pairs of ${unit}; these texts have ${lengths[0]} × ${lengths[1]}`,
    );
  }
}

export function requireSize(
  metric: string,
  unit: string,
  { length: one }: ArrayLike<number>,
  { length: other }: ArrayLike<number>,
): void {
  if (one * other > LARGEST_PRODUCT) throw new TooLarge(metric, unit, [one, other]);
}
