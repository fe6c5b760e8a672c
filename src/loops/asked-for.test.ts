/** What an evaluation is asked for and its data cannot give is refused, the nearest that it can is done. */

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { evaluate } from "./eval.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-asked-"));
const examples = Array.from({ length: 6 }, (_, i) => ({
  ...{ id: `t${i}`, prompt: `${i} + 1 =`, expected_answer: i + 1 },
  ...{ language: i % 2 ? "de" : "en", metadata: { topic: "sums" } },
}));
const completions = examples.map(({ id }) => ({ id, completion: "Final: 1" }));
const packs = examples.map(({ id }, i) => ({
  id,
  samples: Array.from({ length: i === 0 ? 2 : 3 }, () => "Final: 1"),
}));
let made = 0;
const file = (rows: readonly object[]) => {
  const name = path.join(root, `${made++}.jsonl`);
  writeFileSync(name, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return name;
};
const outdir = () => path.join(root, `run-${made++}`);

test("a slice by a field that no example has is refused before scoring, with those that exist", async () => {
  const dataset = file(examples);
  const run = outdir();
  const asked = { dataset, completions: file(completions), outdir: run };
  await expect(evaluate({ ...asked, slice: ["language", "lang"] })).rejects.toMatchObject({
    message: `--slice lang: no example of ${dataset} has this field`,
    hint: "Did you mean language? The examples have expected_answer, id, language, metadata.topic, prompt.",
  });
  expect(existsSync(run), "nothing was written").toBe(false);
  const { summary } = await evaluate({ ...asked, slice: ["language", "metadata.topic"] });
  expect(Object.keys(summary.slices ?? {})).toEqual(["language", "metadata.topic"]);
});

test("rows that can be read only once are refused too, and a rare field is a field", async () => {
  const once = async function* <T>(rows: readonly T[]) {
    yield* rows;
  };
  const options = () => ({ dataset: once(examples), completions: once(completions) });
  await expect(evaluate({ ...options(), outdir: outdir(), slice: ["lang"] })).rejects.toThrow(
    "--slice lang: no example of the data set has this field",
  );
  const rare = examples.map((one, i) => (i === 5 ? { ...one, lang: "de" } : one));
  const { summary } = await evaluate({
    ...{ dataset: file(rare), completions: once(completions) },
    ...{ outdir: outdir(), slice: ["lang"] },
  });
  expect(summary.slices?.lang?.map(({ value }) => value)).toEqual(["(none)", "de"]);
});

test("more repeats than any pack has samples are refused with the number that there is", async () => {
  const samples = file(packs);
  const asked = { dataset: file(examples), completions: samples };
  await expect(evaluate({ ...asked, outdir: outdir(), repeats: 5 })).rejects.toMatchObject({
    message: `--repeats 5: no pack of ${samples} holds more than 3 samples`,
    hint: expect.stringContaining("Use --repeats 3"),
  });
  const run = outdir();
  const { summary } = await evaluate({ ...asked, outdir: run, repeats: 3 });
  expect(summary.metrics, "one pack is short").toMatchObject({ n_missing: 1, n_scored: 17 });
  const text = readFileSync(path.join(run, "summary.md"), "utf8");
  expect(text).toContain("Missing samples: 1 of 18.");
  expect(text).not.toContain("Examples without a completion");
});
