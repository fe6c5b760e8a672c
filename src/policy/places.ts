/**
 * Assigns requests to places: a request's prompt is put there, a token is appended at every step until
 * its completion ends, and then the place goes to the next request. When none waits, the rows that are
 * left move together, and smaller graphs decode them.
 */

import type { Completion } from "./completion.ts";
import type { Decoding } from "./decoding.ts";
import { LEAST_ROWS } from "./graph-sizes.ts";

/** Not worth another graph: fewer rows are not decoded much faster. */
const FEW = 8;

/** Samples all completions; gives those that got a token, after each step. */
export async function* inPlaces(
  decoding: Decoding,
  completions: readonly Completion[],
): AsyncGenerator<readonly Completion[], void, void> {
  const places: (Completion | undefined)[] = Array(decoding.places).fill(undefined);
  let next = 0;

  /** Fills the empty places, and samples the first tokens there. */
  async function refill(): Promise<Completion[]> {
    const begun: Completion[] = [];
    for (let place = 0; place < places.length; place++) {
      // A completion may end with its first token.
      while (!places[place] && next < completions.length) {
        const completion = completions[next] as Completion;
        completion.begin();
        await decoding.put(place, next++);
        completion.sample(decoding.row(place));
        begun.push(completion);
        if (!completion.ended) places[place] = completion;
      }
    }
    return begun;
  }

  /** Appends the last token of every row and samples the next one; rows that have ended leave. */
  async function step(): Promise<Completion[]> {
    await decoding.append(places.map((completion) => completion?.last ?? -1));
    const grown: Completion[] = [];
    for (const [place, completion] of places.entries()) {
      if (!completion) continue;
      completion.sample(decoding.row(place));
      grown.push(completion);
      if (completion.ended) places[place] = undefined;
    }
    return grown;
  }

  /** Moves the rows to the first places, when half of them are enough. */
  function shrink(): void {
    const live = places.filter(Boolean).length;
    const size = fittingPlaces(places.length, Math.max(live, FEW));
    if (size === places.length) return;
    for (let place = size; place < places.length; place++) {
      if (!places[place]) continue;
      const free = places.indexOf(undefined);
      decoding.move(place, free);
      places[free] = places[place];
    }
    places.length = size;
    decoding.shrink(size);
  }

  for (;;) {
    const begun = await refill();
    if (begun.length > 0) yield begun;
    if (!places.some(Boolean)) return;
    if (next === completions.length) shrink();
    yield await step();
  }
}

/** As few places as hold these rows: all, or half of them, or half of those, and so on. */
export function fittingPlaces(places: number, rows: number): number {
  const half = Math.ceil(places / 2);
  return half < Math.max(rows, LEAST_ROWS) ? places : fittingPlaces(half, rows);
}
