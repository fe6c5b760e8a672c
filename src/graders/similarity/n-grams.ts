/** Counts of runs of n words. */

/** Words have no white space or line ends in them, so that a joined run is unambiguous. */
export function nGrams(words: readonly string[], n: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i + n <= words.length; i++) {
    let run = words[i] as string;
    for (let j = 1; j < n; j++) run += `\n${words[i + j]}`;
    counts.set(run, (counts.get(run) ?? 0) + 1);
  }
  return counts;
}

/** How many runs both have, each counted as often as the one that has it less often. */
export function overlap(
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): number {
  let common = 0;
  for (const [run, count] of one) common += Math.min(count, other.get(run) ?? 0);
  return common;
}

/** How many runs of n words a list of this length has. */
export const runsOf = (length: number, n: number): number => Math.max(0, length - n + 1);
