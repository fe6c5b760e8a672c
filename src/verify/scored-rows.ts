/** The rows of an evaluation or a selection, each with the example that it is about. */

import { type Example, toExample } from "../core/records.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import type { Run } from "../runs/reader.ts";
import { exampleOf } from "../runs/row-example.ts";
import { RowCursor } from "../runs/rows.ts";
import type { ResultRow } from "../runs/schemas.ts";
import { findFile, type Places } from "./find-input.ts";

export interface RowOfRun {
  readonly row: ResultRow;
  /** From the data set; undefined where that has no more rows. */
  readonly example: Example | undefined;
}

/** The file of the run's data set. */
export function findDataset(run: Run, places: Places): Promise<string> {
  const input = run.manifest.inputs.find(({ role }) => role === "dataset");
  return findFile("data set", input ?? { path: null, sha256: "" }, places);
}

/**
 * Rows are written in the order of the data set, so both are read side by side. Without a data set the
 * examples are what the rows repeat of them.
 */
export async function* rowsOf(
  run: Run,
  dataset: string | undefined,
): AsyncGenerator<RowOfRun[], void, void> {
  const cursor = dataset === undefined ? undefined : new RowCursor(examplesIn(dataset));
  let example: Example | undefined;
  try {
    for await (const batch of run.results().batches()) {
      const rows: RowOfRun[] = [];
      for (const row of batch) {
        // Further samples of an example follow its first.
        if (!cursor) example = exampleOf(row);
        else if ((row.sample ?? 0) === 0) example = cursor.buffered() ?? (await cursor.read());
        rows.push({ row, example });
      }
      yield rows;
    }
  } finally {
    await cursor?.close();
  }
}

export function examplesIn(dataset: string): JsonlFile<Example> {
  return new JsonlFile(dataset, toExample);
}
