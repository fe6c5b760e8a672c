/** A checkpoint without our hashes, as another program would have written it: its names and shapes. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CharacterTokenizer } from "./characters.ts";
import { checkpointOf, loadCheckpoint, saveCheckpoint } from "./checkpoint.ts";
import { initialise, SIZES } from "./initialise.ts";
import { readSafetensors, safetensorsBytes, type TensorToStore } from "./safetensors.ts";

const tokenizer = new CharacterTokenizer("0123456789");
const architecture = {
  ...{ ...SIZES.nano, width: 16, headSize: 4, inner: 24 },
  vocabulary: tokenizer.size,
};
const parameters = initialise(architecture, 1);
const content = { architecture, tokenizer, parameters, trained: null, maxLength: 64 };

let dir = "";
beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), "lockedroom-weights-"));
  await saveCheckpoint(dir, content);
  const file = path.join(dir, "config.json");
  const { lockedroom, ...config } = JSON.parse(readFileSync(file, "utf8"));
  expect(lockedroom.schema).toBe("lockedroom.checkpoint@1");
  writeFileSync(file, JSON.stringify(config));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function refused(...texts: string[]): Promise<void> {
  const error = await loadCheckpoint(dir).catch((thrown) => thrown);
  for (const text of texts) expect(error.message).toContain(text);
  expect(error).toMatchObject({ kind: "data", hint: expect.stringMatching(/\.$/) });
}

const rewrite = async (change: (tensors: Map<string, TensorToStore>) => void) => {
  const file = path.join(dir, "model.safetensors");
  const stored = [...(await readSafetensors(file))];
  const tensors = new Map<string, TensorToStore>(
    stored.map(([name, { shape, data }]) => [name, { name, shape, data }]),
  );
  change(tensors);
  writeFileSync(file, Buffer.concat([...safetensorsBytes(tensors.values())]));
};
const EMBEDDING = "model.embed_tokens.weight";

test("it loads, and is the same policy", async () => {
  expect((await loadCheckpoint(dir)).fingerprint).toBe(checkpointOf(content).fingerprint);
});

test("a tensor is missing", async () => {
  await rewrite((tensors) => {
    tensors.delete("model.norm.weight");
    tensors.delete("model.layers.1.mlp.up_proj.weight");
  });
  await refused("lack model.layers.1.mlp.up_proj.weight and 1 more");
});

test("a tensor too many", async () => {
  const name = "model.layers.7.mlp.up_proj.weight";
  await rewrite((tensors) => tensors.set(name, { name, shape: [1], data: Float32Array.of(1) }));
  await refused(`model.safetensors holds ${name}, which the model`);
});

test("a tensor of another shape", async () => {
  const name = "model.norm.weight";
  await rewrite((tensors) => tensors.set(name, { name, shape: [2], data: Float32Array.of(1, 2) }));
  await refused(`${name} has the shape [2], not [16] as config.json says`);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])("%s among the weights", async (value) => {
  await rewrite((tensors) => tensors.get("model.norm.weight")?.data.set([value], 3));
  await refused(`model.norm.weight holds ${value} at place 3`);
});

test("a tied head may be stored if it equals the embedding", async () => {
  const name = "lm_head.weight";
  await rewrite((tensors) => {
    const embedding = tensors.get(EMBEDDING) as TensorToStore;
    tensors.set(name, { ...embedding, name });
  });
  expect((await loadCheckpoint(dir)).fingerprint).toBe(checkpointOf(content).fingerprint);
  await rewrite((tensors) => tensors.get(name)?.data.set([9], 0));
  await refused("lm_head.weight is not model.embed_tokens.weight");
});

test("tables that follow from config.json are left out", async () => {
  const name = "model.layers.0.self_attn.rotary_emb.inv_freq";
  await rewrite((tensors) => tensors.set(name, { name, shape: [1], data: Float32Array.of(1) }));
  expect((await loadCheckpoint(dir)).fingerprint).toBe(checkpointOf(content).fingerprint);
});

test("an index that names a file elsewhere, or nothing", async () => {
  rmSync(path.join(dir, "model.safetensors"));
  const index = "model.safetensors.index.json";
  writeFileSync(path.join(dir, index), JSON.stringify({ weight_map: { a: "../x.safetensors" } }));
  await refused(index, "../x.safetensors");
  writeFileSync(path.join(dir, index), "{}");
  await refused(index, "weight_map");
});
