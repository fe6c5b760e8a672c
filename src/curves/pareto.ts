/** Pareto optimality: points that no other point beats. */

/**
 * Whether each point is Pareto-optimal: no other is at least as good in every coordinate and better in
 * one. Higher is better. Of equal points, all or none are.
 */
export function paretoOptimal(points: readonly (readonly number[])[]): boolean[] {
  return points.map((point) => !points.some((other) => dominates(other, point)));
}

function dominates(one: readonly number[], other: readonly number[]): boolean {
  const pairs = one.map((value, i) => [value, other[i] as number] as const);
  return pairs.every(([a, b]) => a >= b) && pairs.some(([a, b]) => a > b);
}
