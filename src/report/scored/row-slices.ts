/**
 * The slices of a run's rows. Rows have those that the run was evaluated with; further fields are read
 * from the data set, where it still is what the run used.
 */

import { dataError } from "../../core/errors.ts";
import { type Example, toExample } from "../../core/records.ts";
import { passes } from "../../core/score.ts";
import { NO_VALUE, type Slices, slicesOf } from "../../core/slices.ts";
import { JsonlFile } from "../../runs/jsonl.ts";
import type { Run } from "../../runs/reader.ts";
import { RowCursor } from "../../runs/rows.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { sha256OfFile } from "../../runs/whole-file.ts";
import { type SliceRate, SliceRates } from "../../stats/slice-rates.ts";

export class RowSlices {
  readonly #run: Run;
  /** Fields that the rows do not have. */
  readonly #further: readonly string[];
  readonly #found = new Set<string>();
  readonly #rates = new SliceRates();
  readonly #examples: RowCursor<Example> | undefined;
  #example: Example | undefined;

  private constructor(run: Run, further: readonly string[], dataset: string | undefined) {
    this.#run = run;
    this.#further = further;
    if (dataset !== undefined)
      this.#examples = new RowCursor(new JsonlFile<Example>(dataset, toExample));
  }

  /** `fields` are wanted besides those that the rows have. */
  static async open(run: Run, fields: readonly string[] = []): Promise<RowSlices> {
    const { slice } = run.manifest.settings;
    const known = Array.isArray(slice) ? slice : [];
    const further = fields.filter((field) => !known.includes(field));
    const dataset = further.length === 0 ? undefined : await datasetOf(run, further);
    return new RowSlices(run, further, dataset);
  }

  /** Whether `add` has to read; rows are many, so that nothing is awaited without need. */
  get reads(): boolean {
    return this.#examples !== undefined;
  }

  /** For rows in their order, where nothing is read. */
  addRow(row: ResultRow): void {
    this.#count(row, row.slices);
  }

  async add(row: ResultRow): Promise<void> {
    const examples = this.#examples;
    if (!examples) return this.addRow(row);
    // Further samples of an example follow its first.
    if ((row.sample ?? 0) === 0) this.#example = examples.buffered() ?? (await examples.read());
    if (this.#example?.id !== row.id) throw notTheSame(this.#run, this.#further);
    const further = slicesOf(this.#example, this.#further);
    for (const [field, value] of Object.entries(further))
      if (value !== NO_VALUE) this.#found.add(field);
    this.#count(row, { ...row.slices, ...further });
  }

  #count({ reward, sample }: ResultRow, slices: Slices | undefined): void {
    this.#rates.add(slices, { reward, passed: passes(reward), sample });
  }

  /** By field; undefined without any. A field that no example has is refused. */
  table(): Record<string, SliceRate[]> | undefined {
    const unknown = this.#further.find((field) => !this.#found.has(field));
    if (unknown !== undefined)
      throw dataError(
        `no example of ${this.#run.dir} has the field ${JSON.stringify(unknown)}`,
        "Name a field of the data set, such as metadata.topic.",
      );
    return this.#rates.table();
  }

  async close(): Promise<void> {
    await this.#examples?.close();
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

/** The file of the run's data set, with the content that the run used. */
async function datasetOf(run: Run, fields: readonly string[]): Promise<string> {
  const input = run.manifest.inputs.find(({ role }) => role === "dataset");
  if (!input || input.path === null) throw noSlices(run, fields, "its data set is not a file");
  const found = await sha256OfFile(input.path).catch(() => undefined);
  if (found === input.sha256) return input.path;
  throw noSlices(
    run,
    fields,
    found === undefined
      ? `its data set ${input.path} is not there`
      : `its data set ${input.path} has changed`,
  );
}

const noSlices = ({ dir }: Run, fields: readonly string[], why: string) =>
  dataError(
    `the run ${dir} has no slices by ${JSON.stringify(fields[0])}, and ${why}`,
    `Start from the folder where the run was made, or evaluate again with --slice ${fields[0]}.`,
  );

const notTheSame = (run: Run, fields: readonly string[]) =>
  noSlices(run, fields, "its rows are not those of its data set");
