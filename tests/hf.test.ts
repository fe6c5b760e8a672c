/** Checkpoints of Hugging Face load as they are, and give what transformers gives. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  exp,
  gradients,
  input,
  logSoftmax,
  mean,
  mul,
  neg,
  pick,
  Session,
  slice,
  sqrt,
  sum,
  type Tensor,
} from "../src/graph/index.ts";
import { type Checkpoint, loadCheckpoint, saveCheckpoint } from "../src/policy/checkpoint.ts";
import { Decoder } from "../src/policy/decoder.ts";
import { readSafetensors, type StoredTensor } from "../src/policy/safetensors.ts";
import { argmax } from "../src/policy/sample-token.ts";
import { logitsOf } from "../src/policy/transformer.ts";

const FIXTURES = path.join(import.meta.dirname, "fixtures/hf-tiny");
const NAMES = ["llama", "smollm2-like", "qwen2-like", "qwen3-like"];
const WEIGHTS = "model.safetensors";

const scratch = mkdtempSync(path.join(tmpdir(), "lockedroom-hf-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Expected {
  readonly text: string;
  readonly input_ids: number[];
  readonly logits_first: number[];
  readonly logits_last: number[];
  readonly token_logprobs: number[];
  readonly entropy: number[];
  readonly loss: number;
  readonly grad_norms: Record<string, number>;
  readonly greedy_prompt_ids: number[];
  readonly greedy_ids: number[];
}

function expectedOf(name: string): Expected {
  return JSON.parse(readFileSync(path.join(FIXTURES, name, "expected.json"), "utf8"));
}

/** Everything that expected.json has a number for, but the greedy ids. */
async function measure({ architecture, placed, parameters }: Checkpoint, ids: readonly number[]) {
  const leaves = new Map<string, Tensor>(
    placed.map(({ name, shape }) => [name, input(name, shape)]),
  );
  const tokens = input("tokens", [1, ids.length], "i64");
  const targets = input("targets", [1, ids.length - 1], "i64");
  const logits = logitsOf(architecture, (name) => leaves.get(name) as Tensor, tokens);
  const all = logSoftmax(logits);
  const logprobs = pick(slice(all, 1, 0, ids.length - 1), targets);
  const loss = neg(mean(logprobs));
  const entropy = neg(sum(mul(exp(all), all), -1));
  const norms = gradients(loss, [...leaves.values()]).map(
    (gradient, i) => [`norm${i}`, sqrt(sum(mul(gradient, gradient)))] as const,
  );
  const session = await Session.create({
    ...{ logits, logprobs, loss, entropy },
    ...Object.fromEntries(norms),
  });
  const results = await session.run({
    tokens: BigInt64Array.from(ids, BigInt),
    targets: BigInt64Array.from(ids.slice(1), BigInt),
    ...Object.fromEntries(
      placed.map(({ name, offset, size }) => [name, parameters.subarray(offset, offset + size)]),
    ),
  });
  await session.close();
  const numbers = (name: string) => [...(results[name] as Float32Array)];
  return {
    first: numbers("logits").slice(0, architecture.vocabulary),
    last: numbers("logits").slice(-architecture.vocabulary),
    logprobs: numbers("logprobs"),
    loss: numbers("loss"),
    entropy: numbers("entropy"),
    norms: Object.fromEntries(placed.map(({ name }, i) => [name, numbers(`norm${i}`)[0] ?? NaN])),
  };
}

async function greedy(
  { architecture, placed, parameters }: Checkpoint,
  prompt: number[],
  n: number,
) {
  const decoder = new Decoder(architecture, placed, { batch: 2 });
  const decoding = decoder.begin(parameters, { prompts: [prompt], room: prompt.length + n });
  await decoding.put(0, 0);
  const ids: number[] = [];
  for (let i = 0; i < n; i++) {
    const token = argmax(decoding.row(0));
    ids.push(token);
    await decoding.append([token]);
  }
  await decoder.close();
  return ids;
}

function worst(found: readonly number[], expected: readonly number[]): number {
  expect(found).toHaveLength(expected.length);
  return Math.max(...found.map((x, i) => Math.abs(x - (expected[i] as number))));
}

describe.each(NAMES)("%s", (name) => {
  const expected = expectedOf(name);

  test("logits, log-probs, entropies, loss and gradients are those of transformers", async () => {
    const found = await measure(
      await loadCheckpoint(path.join(FIXTURES, name)),
      expected.input_ids,
    );
    expect(worst(found.first, expected.logits_first)).toBeLessThan(1e-4);
    expect(worst(found.last, expected.logits_last)).toBeLessThan(1e-4);
    expect(worst(found.logprobs, expected.token_logprobs)).toBeLessThan(1e-4);
    expect(worst(found.entropy, expected.entropy)).toBeLessThan(1e-4);
    expect(worst(found.loss, [expected.loss])).toBeLessThan(1e-4);
    expect(Object.keys(found.norms).sort()).toEqual(Object.keys(expected.grad_norms).sort());
    for (const [parameter, norm] of Object.entries(expected.grad_norms)) {
      expect(Math.abs((found.norms[parameter] as number) / norm - 1), parameter).toBeLessThan(1e-4);
    }
  });

  test("greedy decoding says the same, token for token", async () => {
    const { greedy_prompt_ids: prompt, greedy_ids: ids } = expected;
    const checkpoint = await loadCheckpoint(path.join(FIXTURES, name));
    expect(await greedy(checkpoint, prompt, ids.length)).toEqual(ids);
    expect(checkpoint.tokenizer.encode(expected.text)).toEqual(expected.input_ids);
  });

  test.each([
    { type: "F16", narrow: half, tolerance: 2e-3 },
    { type: "BF16", narrow: brain, tolerance: 2e-2 },
  ])("$type weights are read exactly", async ({ type, narrow, tolerance }) => {
    const dir = copy(name, type);
    const tensors = await readSafetensors(path.join(dir, WEIGHTS));
    writeTensors(path.join(dir, WEIGHTS), tensors, type, narrow);
    const [original, checkpoint] = [
      await loadCheckpoint(path.join(FIXTURES, name)),
      await loadCheckpoint(dir),
    ];
    const widen = type === "F16" ? ofHalf : ofBrain;
    const rounded = original.parameters.map((x) => widen(narrow(x)));
    expect(Buffer.compare(bytesOf(checkpoint.parameters), bytesOf(rounded))).toBe(0);
    const found = await measure(checkpoint, expected.input_ids);
    expect(worst(found.last, expected.logits_last)).toBeLessThan(tolerance);
    expect(Math.abs((found.loss[0] as number) - expected.loss)).toBeLessThan(tolerance);
  });

  test("parts with an index are the same checkpoint", async () => {
    const dir = copy(name, "sharded");
    const tensors = [...(await readSafetensors(path.join(dir, WEIGHTS)))];
    rmSync(path.join(dir, WEIGHTS));
    const half = Math.ceil(tensors.length / 2);
    const files = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"] as const;
    writeTensors(path.join(dir, files[0]), new Map(tensors.slice(0, half)), "F32", float);
    writeTensors(path.join(dir, files[1]), new Map(tensors.slice(half)), "F32", float);
    const map = Object.fromEntries(tensors.map(([tensor], i) => [tensor, files[i < half ? 0 : 1]]));
    const index = { metadata: { total_size: 1 }, weight_map: map };
    writeFileSync(path.join(dir, "model.safetensors.index.json"), JSON.stringify(index));
    const [original, sharded] = [
      await loadCheckpoint(path.join(FIXTURES, name)),
      await loadCheckpoint(dir),
    ];
    expect(sharded.fingerprint).toBe(original.fingerprint);
    expect(Buffer.compare(bytesOf(sharded.parameters), bytesOf(original.parameters))).toBe(0);
    rmSync(path.join(dir, files[1]));
    await expect(loadCheckpoint(dir)).rejects.toThrow("model-00002-of-00002.safetensors");
  });

  test("saved as ours it is the same policy, and its tokenizer the same file", async () => {
    const original = await loadCheckpoint(path.join(FIXTURES, name));
    const dir = path.join(scratch, `${name}-saved`);
    expect(await saveCheckpoint(dir, original)).toBe(original.fingerprint);
    const again = await loadCheckpoint(dir);
    expect(again).toMatchObject({
      fingerprint: original.fingerprint,
      architecture: original.architecture,
      maxLength: original.maxLength,
    });
    expect(again.tokenizer.endTokens).toEqual(original.tokenizer.endTokens);
    const file = (folder: string) => readFileSync(path.join(folder, "tokenizer.json"));
    expect(file(dir).equals(file(path.join(FIXTURES, name)))).toBe(true);
  });
});

function copy(name: string, kind: string): string {
  const dir = path.join(scratch, `${name}-${kind}`);
  cpSync(path.join(FIXTURES, name), dir, { recursive: true });
  return dir;
}

const bytesOf = (data: Float32Array) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/** A writer of its own, so that the reader is not tested with its own twin. */
function writeTensors(
  file: string,
  tensors: ReadonlyMap<string, StoredTensor>,
  dtype: string,
  narrow: (x: number) => number,
): void {
  const width = dtype === "F32" ? 4 : 2;
  const header: Record<string, unknown> = { __metadata__: { format: "pt" } };
  const parts: Buffer[] = [];
  let end = 0;
  for (const [name, { shape, data }] of tensors) {
    const part = Buffer.alloc(data.length * width);
    for (const [i, x] of data.entries()) {
      if (width === 4) part.writeUInt32LE(narrow(x), 4 * i);
      else part.writeUInt16LE(narrow(x), 2 * i);
    }
    header[name] = { dtype, shape, data_offsets: [end, end + part.length] };
    end += part.length;
    parts.push(part);
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(file, Buffer.concat([length, text, ...parts]));
}

const view = new DataView(new ArrayBuffer(4));

function float(x: number): number {
  view.setFloat32(0, x);
  return view.getUint32(0);
}

/** To nearest, ties to even. */
function brain(x: number): number {
  const bits = float(x);
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

function ofBrain(bits: number): number {
  view.setUint32(0, bits * 65_536);
  return view.getFloat32(0);
}

function half(x: number): number {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const size = Math.abs(x);
  const exponent = Math.max(-14, Math.floor(Math.log2(size || 1)));
  const steps = size / 2 ** (exponent - 10);
  const down = Math.floor(steps);
  const up = steps - down > 0.5 || (steps - down === 0.5 && down % 2 === 1) ? 1 : 0;
  // A step too many carries into the exponent, as it should.
  return size === 0 ? sign : sign | ((exponent + 14) * 1024 + down + up);
}

function ofHalf(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 0x1f, bits & 0x3ff];
  const size = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}
