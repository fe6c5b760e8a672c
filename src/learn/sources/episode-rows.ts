/** An episode may be several rows: numbers of its tokens are one list for advantages, and one for each row in the loss. */

import { actionCount, type TokenRow } from "../../core/token-row.ts";
import type { TrainingRow } from "../../engine/loss.ts";

interface HasRows {
  readonly rows: readonly TokenRow[];
}

/** One list for each episode, from lists of its rows in order. */
export function joinedByEpisode(
  episodes: readonly HasRows[],
  ofRows: readonly ArrayLike<number>[],
): Float32Array[] {
  let next = 0;
  return episodes.map(({ rows }) => {
    const own = rows.map(() => ofRows[next++] ?? []);
    const joined = new Float32Array(own.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const list of own) {
      joined.set(Array.from(list), at);
      at += list.length;
    }
    return joined;
  });
}

/** The rows of an episode, each with its part of the episode's columns. */
export function rowsWithColumns({ rows }: HasRows, columns: TrainingRow["columns"]): TrainingRow[] {
  let from = 0;
  return rows.map((row) => {
    const to = from + actionCount(row);
    const own = Object.entries(columns).map(([name, values]) => [
      name,
      typeof values === "number" ? values : Array.prototype.slice.call(values, from, to),
    ]);
    from = to;
    return { ...row, columns: Object.fromEntries(own) };
  });
}
