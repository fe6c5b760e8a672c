/** A checkpoint folder keeps a record of its rollouts, and stays the checkpoint that it was. */

import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { TINY_POLICY } from "../src/engine/tiny-policy.contract.ts";
import { rollout } from "../src/loops/rollout.ts";
import { loadCheckpoint, saveCheckpoint } from "../src/policy/checkpoint.ts";
import { openEmbeddedPolicy } from "../src/policy/embedded.ts";
import { PI0 } from "../src/policy/pi0.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-tries-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let dir = "";
let count = 0;
beforeEach(async () => {
  dir = path.join(root, String(count++));
  await saveCheckpoint(at("policy"), TINY_POLICY);
  data({ id: "a", prompt: "1+2=" }, { id: "b", prompt: "3+4=" });
});
const at = (...names: string[]) => path.join(dir, ...names);
const data = (...rows: object[]) =>
  writeFileSync(at("d.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

async function sampled(folder: string, outdir: string, seed = 0, temperature = 1) {
  const sampling = { temperature, top_k: 0, top_p: 1, max_tokens: 4, stop: [], seed };
  const policy = await openEmbeddedPolicy(folder, { sampling });
  try {
    return await rollout({ policy, dataset: at("d.jsonl"), n: 1, outdir: at(outdir) });
  } finally {
    await policy.close();
  }
}
const bytes = (...names: string[]) => readFileSync(at(...names), "utf8");

test("the best of three seeds carries the number of tries; the same ledger gives the same bytes", async () => {
  const tries: unknown[] = [];
  for (const [outdir, seed] of [
    ["a", 4],
    ["b", 5],
    ["c", 6],
    ["again", 6],
  ] as const) {
    tries.push((await sampled(at("policy"), outdir, seed)).manifest.seeds_tried);
  }
  expect(tries).toEqual([1, 2, 3, 3]);
  for (const name of ["completions.jsonl", "completions.provenance.json", "summary.json"]) {
    expect(bytes("again", name)).toBe(bytes("c", name));
  }
});

test("greedy sampling is one try with any seed", async () => {
  await sampled(at("policy"), "a", 1, 0);
  expect((await sampled(at("policy"), "b", 2, 0)).manifest.seeds_tried).toBe(1);
});

test("the record is no part of the checkpoint: it loads, is copied and replaced as before", async () => {
  const { manifest } = await sampled(at("policy"), "a");
  expect(manifest.volatile.checkpoint).toBe(at("policy"));
  expect(readdirSync(at("policy"))).toContain("rollouts.jsonl");
  expect((await loadCheckpoint(at("policy"))).fingerprint).toBe(TINY_POLICY.fingerprint);
  cpSync(at("policy"), at("copy"), { recursive: true });
  const copy = await sampled(at("copy"), "b", 1);
  expect(copy.manifest.policy).toEqual(manifest.policy);
  expect(copy.manifest.seeds_tried).toBe(2);
  const print = await saveCheckpoint(at("policy"), TINY_POLICY);
  expect(print).toBe(TINY_POLICY.fingerprint);
});

describe("nobody counts", () => {
  test.each([
    ["pi0", "pi0"],
    ["the path of pi0", PI0],
    ["a link to pi0", "link"],
  ])("the rollouts of %s, whose folder is left alone", async (_, word) => {
    const given = word === "link" ? at(word) : word;
    if (word === "link") symlinkSync(PI0, given);
    data({ id: "a", prompt: "Compute 1 + 1. Reply: Final: <int>" });
    const before = readdirSync(PI0);
    const { manifest } = await sampled(given, "a");
    expect(manifest.seeds_tried).toBeNull();
    expect(manifest.volatile.checkpoint).toBe(given);
    expect(readdirSync(PI0)).toEqual(before);
  });

  test("those of a folder that others wrote", async () => {
    const config = JSON.parse(bytes("policy", "config.json"));
    writeFileSync(
      at("policy", "config.json"),
      JSON.stringify({ ...config, lockedroom: undefined }),
    );
    expect((await sampled(at("policy"), "a")).manifest.seeds_tried).toBeNull();
    expect(readdirSync(at("policy"))).not.toContain("rollouts.jsonl");
  });
});

describe("a prompt that the policy cannot read", () => {
  test.each([
    ["has an unknown character", "1+ü=", /does not know the character "ü" \(U\+00FC\)/],
    ["is too long", "1".repeat(32), /33 tokens, but the policy's context length is 32/],
  ])("because it %s is named by id and line", async (_, prompt, says) => {
    data({ id: "a", prompt: "1+2=" }, { id: "bad-1", prompt });
    const refused = sampled(at("policy"), "a");
    await expect(refused).rejects.toMatchObject({
      kind: "data",
      message: expect.stringMatching(says),
    });
    await expect(sampled(at("policy"), "a")).rejects.toThrow(/d\.jsonl:2: example "bad-1": /);
    expect(readdirSync(at("policy"))).not.toContain("rollouts.jsonl");
    data({ id: "a", prompt: "1+2=" }, { id: "bad-1", prompt: "1".repeat(30) });
    expect((await sampled(at("policy"), "a")).summary.n_answers).toBe(2);
  });
});
