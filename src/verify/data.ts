/** Ids, prompts and expected answers of the rows against the data set. */

import { canonicalJson } from "../core/json.ts";
import { ExampleFingerprints } from "../loops/scoring-run.ts";
import type { Run } from "../runs/reader.ts";
import type { VerificationPart } from "../runs/verification.ts";
import { type Places, reached } from "./find-input.ts";
import { Comparison, impossible } from "./part.ts";
import { examplesIn, findDataset, rowsOf } from "./scored-rows.ts";

export async function verifyData(run: Run, places: Places): Promise<VerificationPart> {
  const { examples } = run.manifest;
  const found = await reached(() => findDataset(run, places));
  if ("why" in found) return impossible("data", examples.count, found.why);
  const comparison = new Comparison();
  let [rows, first] = [0, 0];
  for await (const batch of rowsOf(run, found.value)) {
    for (const { row, example } of batch) {
      rows++;
      if ((row.sample ?? 0) === 0) first++;
      const { id, prompt, expected_answer: answer } = row;
      const expected = example && {
        id: example.id,
        prompt: example.prompt,
        expected_answer: example.expected_answer ?? null,
      };
      comparison.compare(id, expected ?? {}, { id, prompt, expected_answer: answer });
    }
  }
  const hashes = await fingerprintsOf(found.value, first);
  if (canonicalJson(hashes) !== canonicalJson(examples))
    comparison.differs("manifest.json", "examples", hashes, examples);
  return comparison.part("data", Math.max(rows, examples.count), `rows against ${found.value}`);
}

async function fingerprintsOf(dataset: string, rows: number) {
  const examples = new ExampleFingerprints();
  let left = rows;
  for await (const batch of examplesIn(dataset).batches()) {
    for (const example of batch.slice(0, left)) examples.add(example);
    left -= Math.min(left, batch.length);
  }
  return examples.identity();
}
