/** Rates by slice: those of the rows, and those read from the data set afterwards. */

import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { evaluate } from "../../loops/eval.ts";
import { rollout } from "../../loops/rollout.ts";
import { select } from "../../loops/select.ts";
import { builtInPolicy } from "../../loops/selection-policy.ts";
import { openEmbeddedPolicy } from "../../policy/embedded.ts";
import { openRun } from "../../runs/reader.ts";
import { verify } from "../../verify/verify.ts";
import { findRows } from "../inspect.ts";
import { report } from "../report.ts";
import { sliceRates } from "./row-slices.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-row-slices-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (name: string) => path.join(root, name);

function jsonl(name: string, rows: readonly unknown[]): string {
  writeFileSync(at(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return at(name);
}

const N = 30;
const examples = Array.from({ length: N }, (_, i) => ({
  ...{ id: `e${i}`, prompt: `Compute ${i} + 1.`, expected_answer: i + 1 },
  metadata: { topic: i % 3 === 0 ? "carry" : "plain" },
}));
const dataset = jsonl("d.jsonl", examples);
/** The first sample is right outside of the topic carry, the second only for even numbers. */
const packs = examples.map(({ id, expected_answer: right }, i) => ({
  id,
  samples: [i % 3 === 0 ? "Final: -1" : `Final: ${right}`, `Final: ${i % 2 === 0 ? right : -1}`],
}));
const samples = jsonl("p.jsonl", packs);
const completions = jsonl(
  "c.jsonl",
  packs.map(({ id, samples: [completion] }) => ({ id, completion })),
);
const FIELD = "metadata.topic";

test("a field that the run was not evaluated with is read from its data set, with the same rates", async () => {
  for (const repeats of [undefined, 2]) {
    const answers = { dataset, completions: repeats ? samples : completions, repeats };
    const sliced = at(`sliced-${repeats}`);
    await evaluate({ ...answers, outdir: sliced, slice: [FIELD] });
    await evaluate({ ...answers, outdir: at(`whole-${repeats}`) });
    const rates = await sliceRates(await openRun(at(`whole-${repeats}`)), FIELD);
    expect(rates).toEqual(await sliceRates(await openRun(sliced), FIELD));
    expect(rates).toEqual((await openRun(sliced)).summary.slices?.[FIELD]);
    expect(rates.map(({ value, n_pass }) => [value, n_pass])).toEqual(
      repeats ? [["carry", 5], ["plain", 30]] : [["carry", 0], ["plain", 20]], // biome-ignore format: pairs
    );
  }
});

test("a page shows them with their intervals, beside the fields of the run", async () => {
  await evaluate({ dataset, completions, outdir: at("paged"), slice: ["expected_answer"] });
  const page = async (slice?: string[]) => (await report({ runs: [at("paged")], slice })).html;
  expect(await page()).not.toContain("metadata.topic</th>");
  const text = await page([FIELD]);
  expect(text).toContain('<th scope="col">metadata.topic</th>');
  expect(text).toContain("<code>carry</code></th><td>10</td><td>0.0\u00a0%</td>");
  expect(text).toContain('<th scope="col">expected_answer</th>');
});

test("a typo, a changed data set, a lost one and a run without rates are refused", async () => {
  const changing = jsonl("changing.jsonl", examples);
  await evaluate({ dataset: changing, completions, outdir: at("changing") });
  const run = await openRun(at("changing"));
  await expect(sliceRates(run, "metadata.topik")).rejects.toThrow(/has the field "metadata.topik"/);
  appendFileSync(changing, "\n");
  await expect(sliceRates(run, FIELD)).rejects.toThrow(/no slices by .* has changed/);
  rmSync(changing);
  await expect(sliceRates(run, FIELD)).rejects.toThrow(/no slices by .* is not there/);
  await evaluate({ dataset: examples, completions, outdir: at("memory") });
  await expect(sliceRates(await openRun(at("memory")), FIELD)).rejects.toThrow(/is not a file/);

  const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 1, stop: [], seed: 0 };
  const policy = await openEmbeddedPolicy("pi0", { sampling });
  await rollout({ policy, dataset, n: 1, outdir: at("rollout") });
  await policy.close();
  await expect(report({ runs: [at("rollout")], slice: [FIELD] })).rejects.toThrow(
    /which has no rates to slice/,
  );
});

test("a selection has slices too; its rows are made again with them, and a moved row is noticed", async () => {
  const options = { dataset, samples, n: 2, policy: builtInPolicy("best") };
  await select({ ...options, outdir: at("best"), slice: [FIELD] });
  await select({ ...options, outdir: at("best-whole") });
  const run = await openRun(at("best"));
  expect(run.summary.slices?.[FIELD]?.map(({ value, n_pass }) => [value, n_pass])).toEqual([
    ["carry", 5],
    ["plain", 20],
  ]);
  expect(await sliceRates(await openRun(at("best-whole")), FIELD)).toEqual(
    run.summary.slices?.[FIELD],
  );
  expect((await report({ runs: [at("best")] })).html).toContain("<h2>Slices</h2>");
  const score = async () => (await verify({ run: at("best"), only: ["score"] })).parts[0];
  expect(await score()).toMatchObject({ status: "equal", repeated: N });
  const file = path.join(at("best"), "results.jsonl");
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace('"metadata.topic":"carry"', '"metadata.topic":"plain"'),
  );
  expect(await score()).toMatchObject({ status: "differs", first: [{ id: "e0", what: "slices" }] });
});

test("all samples of an example are found by its id", async () => {
  const numbers = Array.from({ length: 700 }, (_, i) => i);
  await evaluate({
    dataset: numbers.map((i) => ({ id: `x${i}`, prompt: `${i}`, expected_answer: i })),
    completions: numbers.map((i) => ({ id: `x${i}`, samples: [1, 2, 3].map((k) => `${i} ${k}`) })),
    ...{ outdir: at("many"), repeats: 3 },
  });
  const run = await openRun(at("many"));
  // Rows are read in batches; the samples of some example lie on both sides of an edge.
  const edges: string[] = [];
  for await (const batch of run.results().batches()) edges.push(batch.at(-1)?.id ?? "");
  expect(edges.length).toBeGreaterThan(1);
  for (const i of edges.map((id) => Number(id.slice(1)))) {
    const rows = await findRows(run, `x${i}`);
    expect(rows.map(({ completion }) => completion)).toEqual([`${i} 1`, `${i} 2`, `${i} 3`]);
  }
  await expect(findRows(run, "x700")).rejects.toThrow('no row with the id "x700"');
});
