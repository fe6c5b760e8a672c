/** Rows of one task that follow each other, as they are read: one task in memory at a time. */

import type { RolloutFailure } from "../core/trajectory.ts";

/** Batches of groups, none of them empty; a group holds at least one row. */
export async function* byTask<T extends { readonly id: string }>(
  batches: AsyncIterable<readonly T[]>,
): AsyncGenerator<T[][], void, void> {
  let open: T[] = [];
  for await (const batch of batches) {
    const groups: T[][] = [];
    for (const row of batch) {
      if (open.length > 0 && open[0]?.id !== row.id) {
        groups.push(open);
        open = [];
      }
      open.push(row);
    }
    if (groups.length > 0) yield groups; // An empty batch would end the reading.
  }
  if (open.length > 0) yield [open];
}

export function failuresByTask(
  failures: readonly RolloutFailure[],
): Map<string, readonly RolloutFailure[]> {
  const byId = new Map<string, RolloutFailure[]>();
  for (const failure of failures) {
    const known = byId.get(failure.id);
    if (known) known.push(failure);
    else byId.set(failure.id, [failure]);
  }
  return byId;
}
