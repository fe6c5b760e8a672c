/** The run's own files, and the files that it was made of. */

import { canonicalJson } from "../core/json.ts";
import { toCompletion, toSelectionPack } from "../core/records.ts";
import { editedFiles } from "../gate/recount.ts";
import { ExampleFingerprints } from "../loops/scoring-run.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import type { Run } from "../runs/reader.ts";
import type { VerificationPart } from "../runs/verification.ts";
import { findFile, type Places, reached } from "./find-input.ts";
import { Comparison, impossible, skipped } from "./part.ts";
import { datasetOf, examplesIn, rowsOf } from "./scored-rows.ts";

/** Hashes, and the counts of the summary against the rows. */
export async function verifyFiles(run: Run): Promise<VerificationPart> {
  const own = 3 + Object.keys(run.summary.files).length;
  return filesPart(await editedFiles(run), own);
}

export function filesPart(
  edited: readonly string[],
  files: number,
  what = "hashes, and counts of rows against the summary",
): VerificationPart {
  const comparison = new Comparison();
  comparison.repeated = files;
  for (const name of edited) comparison.differs(name, "content", "as written", "edited");
  return comparison.part("files", files, what);
}

/** Ids, prompts and expected answers of the rows against the data set. */
export async function verifyData(run: Run, places: Places): Promise<VerificationPart> {
  const { examples } = run.manifest;
  const found = await reached(() => datasetOf(run, places));
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

/** The completions of the rows against the file that they came from, where it is still there. */
export async function verifyAnswers(run: Run, places: Places): Promise<VerificationPart> {
  const input = run.manifest.inputs.find(({ role }) => role !== "dataset");
  const found = await reached(() =>
    findFile(input?.role ?? "completions", input ?? { path: null, sha256: "" }, places),
  );
  if ("why" in found) return skipped("answers", `${found.why} The rows were not compared with it.`);
  const packs = input?.role === "samples";
  const answers = await answersIn(found.value, packs);
  const comparison = new Comparison();
  let rows = 0;
  for await (const batch of run.results().batches()) {
    for (const { id, completion, sample, samples } of batch) {
      rows++;
      const own = run.manifest.loop === "B" ? samples?.map((one) => one.completion) : completion;
      const given = answers.get(id) ?? null;
      const expected = sample === undefined || given === null ? given : (given[sample] ?? null);
      comparison.compare(id, { completion: expected }, { completion: own ?? null });
    }
  }
  return comparison.part("answers", rows, `rows against ${found.value}`);
}

type Texts = string | readonly string[];

async function answersIn(file: string, packs: boolean): Promise<Map<string, Texts>> {
  const known = new Map<string, Texts>();
  if (packs) {
    for await (const batch of new JsonlFile(file, toSelectionPack).batches()) {
      for (const { id, samples } of batch)
        known.set(
          id,
          samples.map((one) => (typeof one === "string" ? one : one.completion)),
        );
    }
  } else {
    for await (const batch of new JsonlFile(file, toCompletion).batches()) {
      for (const { id, completion } of batch) known.set(id, completion);
    }
  }
  return known;
}
