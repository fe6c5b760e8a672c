/** Which of several names somebody meant who typed another. */

/** The name that takes the fewest edits; undefined where none is near. */
export function nearestName(typed: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = Math.max(2, Math.ceil(typed.length / 2)) + 1;
  for (const name of names) {
    const short = name.split(".").at(-1) ?? name;
    const edits = Math.min(
      editsBetween(typed, name),
      // "lang" for "language", "topic" for "metadata.topic".
      ...(typed.length > 2 && (short.startsWith(typed) || typed.startsWith(short)) ? [1] : []),
    );
    if (edits >= fewest) continue;
    [best, fewest] = [name, edits];
  }
  return best;
}

/** Letters to insert, delete or replace (Levenshtein). */
function editsBetween(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (before[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, (before[j] as number) + 1, (row[j - 1] as number) + 1);
    }
    before = row;
  }
  return before[b.length] as number;
}
