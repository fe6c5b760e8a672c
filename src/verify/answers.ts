/** The completions of the rows against the file that they came from, where it is still there. */

import { toCompletion, toSelectionPack } from "../core/records.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import type { Run } from "../runs/reader.ts";
import type { VerificationPart } from "../runs/verification.ts";
import { findFile, type Places, reached } from "./find-input.ts";
import { Comparison, skipped } from "./part.ts";

export async function verifyAnswers(run: Run, places: Places): Promise<VerificationPart> {
  const input = run.manifest.inputs.find(({ role }) => role !== "dataset");
  const found = await reached(() =>
    findFile(input?.role ?? "completions", input ?? { path: null, sha256: "" }, places),
  );
  if ("why" in found) return skipped("answers", `${found.why} The rows were not compared with it.`);
  const answers = await answersIn(found.value, input?.role === "samples");
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
