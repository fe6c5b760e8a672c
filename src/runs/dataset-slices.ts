/**
 * Slices by fields that a run was not evaluated with, read from its data set, where that still is what
 * the run used.
 */

import { dataError } from "../core/errors.ts";
import { type Example, toExample } from "../core/records.ts";
import { NO_VALUE, type Slices, slicesOf } from "../core/slices.ts";
import { JsonlFile } from "./jsonl.ts";
import type { Run } from "./reader.ts";
import { recordedPlaces } from "./recorded-places.ts";
import { RowCursor } from "./rows.ts";
import type { ResultRow } from "./schemas.ts";
import { sha256OfFile } from "./whole-file.ts";

export class DatasetSlices {
  readonly #run: Run;
  readonly #fields: readonly string[];
  readonly #found = new Set<string>();
  readonly #examples: RowCursor<Example>;
  #example: Example | undefined;

  private constructor(run: Run, fields: readonly string[], dataset: string) {
    this.#run = run;
    this.#fields = fields;
    this.#examples = new RowCursor(new JsonlFile<Example>(dataset, toExample));
  }

  static async open(run: Run, fields: readonly string[]): Promise<DatasetSlices> {
    return new DatasetSlices(run, fields, await datasetOf(run, fields));
  }

  /** For the run's rows in their order. */
  async of(row: Pick<ResultRow, "id" | "sample">): Promise<Slices> {
    // Further samples of an example follow its first.
    if ((row.sample ?? 0) === 0)
      this.#example = this.#examples.buffered() ?? (await this.#examples.read());
    if (this.#example?.id !== row.id)
      throw noSlices(this.#run, this.#fields, "its rows are not those of its data set");
    const slices = slicesOf(this.#example, this.#fields);
    for (const [field, value] of Object.entries(slices))
      if (value !== NO_VALUE) this.#found.add(field);
    return slices;
  }

  /** After all rows: refuses a field that no example has. */
  requireFound(): void {
    const unknown = this.#fields.find((field) => !this.#found.has(field));
    if (unknown === undefined) return;
    throw dataError(
      `no example of ${this.#run.dir} has the field ${JSON.stringify(unknown)}`,
      "Name a field of the data set, such as metadata.topic.",
    );
  }

  async close(): Promise<void> {
    await this.#examples.close();
  }
}

/** The fields that the run's rows have slices by. */
export function slicedFields({ manifest: { settings } }: Pick<Run, "manifest">): string[] {
  return Array.isArray(settings.slice) ? settings.slice.map(String) : [];
}

/** The file of the run's data set, with the content that the run used. */
async function datasetOf(run: Run, fields: readonly string[]): Promise<string> {
  const input = run.manifest.inputs.find(({ role }) => role === "dataset");
  if (!input || input.path === null) throw noSlices(run, fields, "its data set is not a file");
  let found: string | undefined;
  for (const file of [input.path, ...recordedPlaces(run.dir, input.path)]) {
    const sha256 = await sha256OfFile(file).catch(() => undefined);
    if (sha256 === input.sha256) return file;
    found ??= sha256;
  }
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
