/** Runs with several samples for each example: every sample is made again at its own address. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sha256 } from "../core/fingerprint.ts";
import type { SelectionPack } from "../core/records.ts";
import { evaluate } from "../loops/eval.ts";
import { rollout } from "../loops/rollout.ts";
import { openEmbeddedPolicy } from "../policy/embedded.ts";
import { verify } from "./verify.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-repeats-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (...names: string[]) => path.join(root, ...names);

const N = 6;
const REPEATS = 3;
const DATASET = at("data.jsonl");
const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 12, stop: [], seed: 5 };
const jsonl = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const linesIn = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

let packs: SelectionPack[] = [];

beforeAll(async () => {
  const examples = Array.from({ length: N }, (_, i) => ({
    ...{ id: `ex-${i}`, prompt: `Compute ${i} + ${i}.`, expected_answer: 2 * i },
  }));
  writeFileSync(DATASET, jsonl(examples));
  const policy = await openEmbeddedPolicy("pi0", { sampling });
  await rollout({ policy, dataset: DATASET, n: REPEATS, outdir: at("rollout") });
  await policy.close();
  packs = linesIn(at("rollout", "samples.jsonl"));
});

/** An evaluation of packs under the provenance of the rollout, with hashes that agree. */
async function evaluated(name: string, rows: readonly SelectionPack[], repeats = REPEATS) {
  const text = jsonl(rows);
  const provenance = JSON.parse(readFileSync(at("rollout", "samples.provenance.json"), "utf8"));
  writeFileSync(at(`${name}.jsonl`), text);
  writeFileSync(
    at(`${name}.provenance.json`),
    JSON.stringify({ ...provenance, completions_sha256: sha256(text) }),
  );
  const completions = at(`${name}.jsonl`);
  await evaluate({ dataset: DATASET, completions, outdir: at(name), repeats });
  const { result, parts } = await verify({ run: at(name) });
  return { result, of: (part: string) => parts.find((one) => one.part === part) };
}

test("an honest run is verified in all samples, also where only the first of a pack were scored", async () => {
  for (const repeats of [REPEATS, REPEATS - 1]) {
    const { result, of } = await evaluated(`honest-${repeats}`, packs, repeats);
    expect(result).toBe("verified");
    expect(of("score")).toMatchObject({ status: "equal", repeated: N * repeats });
    expect(of("sample")).toMatchObject({ status: "equal", repeated: N });
  }
});

test("one sample that the policy did not give is found, and named by its number", async () => {
  const last = REPEATS - 1;
  const changed = packs.map((pack, i) => ({
    ...pack,
    samples: pack.samples.map((sample, k) =>
      i === 4 && k === last ? { ...Object(sample), completion: "Final: 8" } : sample,
    ),
  }));
  const { result, of } = await evaluated("changed", changed);
  expect(result).toBe("differs");
  for (const part of ["files", "data", "answers", "score"])
    expect(of(part)).toMatchObject({ status: "equal" });
  expect(of("sample")).toMatchObject({
    ...{ status: "differs", differences: 1 },
    first: [{ id: "ex-4", what: `sample ${last}`, found: expect.stringContaining("Final: 8") }],
  });
});

test("the policy's own samples in another order are not the run's", async () => {
  const turned = packs.map((pack) => ({ ...pack, samples: [...pack.samples].reverse() }));
  const { result, of } = await evaluated("turned", turned);
  expect(result).toBe("differs");
  expect(of("sample")).toMatchObject({ status: "differs" });
});
