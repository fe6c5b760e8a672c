/** A matrix whose prompts not every model can read. */

import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type Cell, runMatrix } from "../src/loops/matrix.ts";
import { openEmbeddedPolicy } from "../src/policy/embedded.ts";
import { matrixSpecSchema } from "../src/runs/matrix-schema.ts";
import { openScorer } from "../src/scorers/open.ts";
import { examplesOf, folder } from "./gate-runs.ts";

const root = folder();

test("a prompt that a model cannot read is named before the first cell is sampled", async () => {
  const dataset = path.join(root, "d.jsonl");
  writeFileSync(
    dataset,
    examplesOf(2)
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(""),
  );
  const prompts = { plain: null, careful: { system: "Think, quickly!" } };
  const sampling = { temperature: 0, max_tokens: 4, seed: 0 };
  const spec = matrixSpecSchema.parse({ dataset, prompts, models: { small: "pi0" }, sampling });
  const scorer = await openScorer(undefined, { timeoutMs: 200 });
  const outdir = path.join(root, "m");
  const openPolicy = ({ prompt }: Cell) =>
    openEmbeddedPolicy("pi0", {
      sampling: { ...sampling, top_k: 0, top_p: 1, stop: [] },
      system: spec.prompts[prompt]?.system,
    });
  const running = runMatrix({ spec, outdir, scorer, openPolicy });
  await expect(running).rejects.toThrow(/model small cannot read the prompt careful: .*character/);
  expect(existsSync(outdir), "nothing was sampled").toBe(false);
  const { careful: _, ...plain } = spec.prompts;
  await runMatrix({ spec: { ...spec, prompts: plain }, outdir, scorer, openPolicy });
  expect(existsSync(path.join(outdir, "plain.small/run/summary.json"))).toBe(true);
  await scorer.close();
});
