/**
 * The slices of a run's rows. Rows have those that the run was evaluated with; further fields are read
 * from the data set.
 */

import { hasPassed } from "../../core/score.ts";
import type { Slices } from "../../core/slices.ts";
import { DatasetSlices, slicedFields } from "../../runs/dataset-slices.ts";
import type { Run } from "../../runs/reader.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { type SliceRate, SliceRates } from "../../stats/slice-rates.ts";

export class RowSlices {
  readonly #rates = new SliceRates();
  /** Of fields that the rows do not have. */
  readonly #further: DatasetSlices | undefined;

  private constructor(further: DatasetSlices | undefined) {
    this.#further = further;
  }

  /** `fields` are wanted besides those that the rows have. */
  static async open(run: Run, fields: readonly string[] = []): Promise<RowSlices> {
    const known = slicedFields(run);
    const further = fields.filter((field) => !known.includes(field));
    return new RowSlices(further.length === 0 ? undefined : await DatasetSlices.open(run, further));
  }

  /** Whether `add` has to read; rows are many, so that nothing is awaited without need. */
  get reads(): boolean {
    return this.#further !== undefined;
  }

  /** For rows in their order, where nothing is read. */
  addRow(row: ResultRow): void {
    this.#count(row, row.slices);
  }

  async add(row: ResultRow): Promise<void> {
    this.#count(row, { ...row.slices, ...(await this.#further?.of(row)) });
  }

  #count(row: ResultRow, slices: Slices | undefined): void {
    const { reward, sample } = row;
    this.#rates.add(slices, { reward, passed: hasPassed(row), sample });
  }

  /** By field; undefined without any. A field that no example has is refused. */
  table(): Record<string, SliceRate[]> | undefined {
    this.#further?.requireFound();
    return this.#rates.table();
  }

  async close(): Promise<void> {
    await this.#further?.close();
  }
}

/** The rates of each value of a field. */
export async function sliceRates(run: Run, field: string): Promise<readonly SliceRate[]> {
  const slices = await RowSlices.open(run, [field]);
  try {
    for await (const batch of run.results().batches())
      for (const row of batch) {
        if (slices.reads) await slices.add(row);
        else slices.addRow(row);
      }
    return slices.table()?.[field] ?? [];
  } finally {
    await slices.close();
  }
}
