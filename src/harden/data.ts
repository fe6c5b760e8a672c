/** The examples and golden rows of an attack. */

import { dataError } from "../core/errors.ts";
import { type Example, type GoldenRow, toExample, toGoldenRow } from "../core/records.ts";
import { openRows } from "../runs/rows.ts";
import type { Target } from "./attack.ts";
import { targetOf } from "./targets.ts";

export interface Data {
  readonly targets: readonly Target[];
  readonly golden: readonly {
    readonly row: GoldenRow;
    readonly target: Target | undefined;
    readonly example: Example;
  }[];
  readonly datasetSha256: string;
  readonly goldenSha256: string[];
}

export async function readData(dataset: string, golden: readonly string[]): Promise<Data> {
  const rows = openRows(dataset, "dataset", toExample);
  const examples = new Map<string, Example>();
  for await (const batch of rows.batches())
    for (const example of batch) examples.set(example.id, example);
  const targets = [...examples.values()].flatMap((example) => targetOf(example) ?? []);
  if (targets.length === 0)
    throw dataError(
      `${rows.label}: no example has an expected_answer`,
      "Give each example its right answer, so that wrong ones can be made.",
    );
  const suites: Data["golden"][number][] = [];
  const goldenSha256: string[] = [];
  for (const file of golden) {
    const suite = openRows(file, "golden rows", toGoldenRow);
    for await (const batch of suite.batches()) {
      for (const row of batch) {
        const example = examples.get(row.id);
        if (!example)
          throw dataError(
            `${suite.label}: the id "${row.id}" is not in ${rows.label}`,
            "A golden row's id names the example it answers.",
          );
        suites.push({ row, example, target: targetOf(example) });
      }
    }
    goldenSha256.push(suite.sha256);
  }
  return { targets, golden: suites, datasetSha256: rows.sha256, goldenSha256 };
}
