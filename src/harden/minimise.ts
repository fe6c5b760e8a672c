/** Delta debugging (Zeller and Hildebrandt, 2002): the smallest part of a list that still fails. */

/** Calls of the test for one input; what is left then is small enough for a reader. */
const MOST_TESTS = 250;

/**
 * A part of `items` that still passes `holds` and none of whose items can be left out alone, unless
 * the number of tests ran out first. Deterministic; `items` itself is taken to hold.
 */
export async function minimal<T>(
  items: readonly T[],
  holds: (part: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let current = items;
  let parts = 2;
  let tests = 0;
  while (current.length > 0 && tests < MOST_TESTS) {
    const size = Math.ceil(current.length / parts);
    let smaller: readonly T[] | undefined;
    for (let from = 0; from < current.length && !smaller && tests < MOST_TESTS; from += size) {
      const rest = [...current.slice(0, from), ...current.slice(from + size)];
      tests++;
      if (await holds(rest)) smaller = rest;
    }
    if (smaller) {
      current = smaller;
      parts = Math.max(2, parts - 1);
    } else {
      if (size === 1) break;
      parts = Math.min(current.length, parts * 2);
    }
  }
  return current;
}

/** The smallest text that holds and still contains `payload`, if one is named. */
export async function minimalText(
  text: string,
  holds: (text: string) => Promise<boolean>,
  payload?: string,
): Promise<string> {
  const at = payload === undefined || payload === "" ? -1 : text.indexOf(payload);
  if (at < 0 || payload === undefined) {
    return (await minimal([...text], (part) => holds(part.join("")))).join("");
  }
  const units = [...text.slice(0, at), payload, ...text.slice(at + payload.length)];
  const index = [...text.slice(0, at)].length;
  const around = units.map((unit, i) => ({ unit, fixed: i === index }));
  const part = await minimal(around, async (kept) =>
    kept.some(({ fixed }) => fixed) ? holds(kept.map(({ unit }) => unit).join("")) : false,
  );
  return part.map(({ unit }) => unit).join("");
}
