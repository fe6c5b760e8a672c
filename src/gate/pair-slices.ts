/** The slice of each pair: as a run recorded it, or read from the data set. */

import { LockedRoomError } from "../core/errors.ts";
import { DatasetSlices, slicedFields } from "../runs/dataset-slices.ts";
import type { Run } from "../runs/reader.ts";
import type { ResultRow } from "../runs/schemas.ts";

export class PairSlices {
  readonly #field: string;
  readonly #dataset: DatasetSlices | undefined;

  private constructor(field: string, dataset: DatasetSlices | undefined) {
    this.#field = field;
    this.#dataset = dataset;
  }

  static async open(
    field: string | undefined,
    baseline: Run,
    candidate: Run,
  ): Promise<PairSlices | undefined> {
    if (field === undefined) return undefined;
    const recorded = [baseline, candidate].some((run) => slicedFields(run).includes(field));
    return new PairSlices(
      field,
      recorded ? undefined : await openEither(field, baseline, candidate),
    );
  }

  /** For pairs in their order. The examples are the same, so one run with slices is enough. */
  of(before: ResultRow, after: ResultRow): string | undefined | Promise<string | undefined> {
    const field = this.#field;
    if (!this.#dataset) return after.slices?.[field] ?? before.slices?.[field];
    return this.#dataset.of(before).then((slices) => slices[field]);
  }

  /** After all pairs: refuses a field that no example has. */
  requireFound(): void {
    this.#dataset?.requireFound();
  }

  async close(): Promise<void> {
    await this.#dataset?.close();
  }
}

/** The runs have the same examples, so either data set will do. */
async function openEither(field: string, baseline: Run, candidate: Run): Promise<DatasetSlices> {
  try {
    return await DatasetSlices.open(baseline, [field]);
  } catch (error) {
    if (!(error instanceof LockedRoomError)) throw error;
    return DatasetSlices.open(candidate, [field]);
  }
}

/** Fields that both runs have slices by, which a comparison without --slice does not use. */
export function slicesNote(baseline: Run, candidate: Run): string[] {
  const others = slicedFields(candidate);
  const both = slicedFields(baseline).filter((field) => others.includes(field));
  if (both.length === 0) return [];
  return [
    `Both runs have slices by ${both.join(", ")}. To compare each slice, add --slice ${both[0]}.`,
  ];
}
