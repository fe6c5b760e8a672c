/** The q-quantile of sorted numbers, interpolated between neighbours (Hyndman and Fan's type 7). */
export function quantile(sorted: Float64Array, q: number): number {
  const position = q * (sorted.length - 1);
  const below = sorted[Math.floor(position)] as number;
  const above = sorted[Math.ceil(position)] as number;
  return below + (above - below) * (position - Math.floor(position));
}
