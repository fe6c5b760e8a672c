/** Supervised fine-tuning on a handful of sums: it learns, the same bytes every time, and can go on. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gradients } from "../graph/gradients.ts";
import { differences, interpret } from "../graph/interpret.ts";
import { inOrder } from "../graph/order.ts";
import { place } from "../graph/parameters.ts";
import { Session } from "../graph/session.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import { type Architecture, parametersOf } from "../policy/architecture.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import {
  adapterParameters,
  initialiseAdapters,
  LORA,
  mergeAdapters,
  withAdapters,
} from "../policy/lora.ts";
import { hashOfWeights } from "../policy/safetensors.ts";
import { logitsOf } from "../policy/transformer.ts";
import { sftLoss } from "./algorithms/sft.ts";
import { rateAt } from "./parts/schedule.ts";
import { Texts } from "./texts.ts";
import { startState, Trainer, type TrainState } from "./trainer.ts";

const tokenizer = new CharacterTokenizer("0123456789+= Final:");
const architecture: Architecture = { ...SIZES.nano, vocabulary: tokenizer.size };
const { list: placed } = place(parametersOf(architecture));
const SHAPE = { batch: 8, length: 16 };
const SEED = 5;

const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-sft-"));
afterAll(() => rmSync(folder, { recursive: true }));
let texts: Texts;
beforeAll(async () => {
  const file = path.join(folder, "texts.jsonl");
  const rows = Array.from({ length: 24 }, (_, i) => {
    const [a, b] = [i % 6, Math.floor(i / 6)];
    return JSON.stringify({ id: `t${i}`, prompt: `${a}+${b}=`, completion: `Final: ${a + b}` });
  });
  writeFileSync(file, `${rows.join("\n")}\n`);
  texts = await Texts.read(file, tokenizer, 32);
});

async function train(
  steps: number,
  from: TrainState,
  threads = 1,
  shape = SHAPE,
): Promise<{ state: TrainState; losses: number[] }> {
  const model = (weights: ReadonlyMap<string, Tensor>) => ({
    loss: sftLoss(architecture, (name) => weights.get(name) as Tensor, shape),
  });
  const trainer = await Trainer.create(placed, model, from, { threads });
  const losses: number[] = [];
  for (let step = from.step + 1; step <= steps; step++) {
    const { used: _, ...batch } = texts.batch(step, shape.batch, shape.length, SEED);
    losses.push((await trainer.step(batch, 3e-3)).loss);
  }
  const { state } = trainer;
  await trainer.close();
  return { state, losses };
}

const start = () => startState(initialise(architecture, SEED));

test("the loss falls from that of a coin toss among all tokens to nearly nothing", async () => {
  const { losses } = await train(120, start());
  expect(losses[0]).toBeGreaterThan(0.8 * Math.log(tokenizer.size));
  expect(losses.at(-1)).toBeLessThan(0.25);
});

test("same seed, same bytes, with one thread and with two", async () => {
  const [one, again, two] = [
    await train(12, start()),
    await train(12, start()),
    await train(12, start(), 2),
  ];
  expect(again).toEqual(one);
  expect(two.losses).toEqual(one.losses);
  expect(hashOfWeights(two.state.parameters)).toBe(hashOfWeights(one.state.parameters));
});

test("also with batches that are large enough to be shared among threads", async () => {
  const shape = { batch: 256, length: 32 };
  const [one, two] = [await train(3, start(), 1, shape), await train(3, start(), 2, shape)];
  expect(two.losses).toEqual(one.losses);
  expect(hashOfWeights(two.state.parameters)).toBe(hashOfWeights(one.state.parameters));
});

test("stopped and gone on with, it ends where it would have ended", async () => {
  const whole = await train(12, start());
  const half = await train(5, start());
  const rest = await train(12, half.state);
  expect(hashOfWeights(rest.state.parameters)).toBe(hashOfWeights(whole.state.parameters));
  expect([...half.losses, ...rest.losses]).toEqual(whole.losses);
});

describe("the loss", () => {
  const tiny: Architecture = {
    ...architecture,
    ...{ vocabulary: 5, width: 4, layers: 1, heads: 2, keyHeads: 1, headSize: 2, inner: 6 },
  };
  const { list, total } = place(parametersOf(tiny));
  const flat = initialise(tiny, 2).map((x) => (x === 1 ? 1.1 : 20 * x));
  const leaves = new Map<string, Tensor>(list.map(({ name, shape }) => [name, input(name, shape)]));
  const loss = sftLoss(tiny, (name) => leaves.get(name) as Tensor, { batch: 1, length: 3 });
  const fed: Record<string, number[]> = {
    tokens: [1, 3, 4],
    targets: [3, 4, 2],
    weights: [0, 1, 1],
  };
  const feeds = new Map<Tensor, ArrayLike<number>>(
    inOrder([loss]).flatMap((node) => {
      const { name } = (node.attributes ?? {}) as { name?: string };
      if (node.op.name !== "input" || name === undefined) return [];
      const at = list.find((parameter) => parameter.name === name);
      const values = at ? flat.subarray(at.offset, at.offset + at.size) : (fed[name] ?? []);
      return [[node, Float64Array.from(values)]];
    }),
  );

  test("is the mean over learned tokens only", () => {
    const other = { ...fed, targets: [0, 4, 2] };
    const masked = new Map(
      [...feeds].map(([node, values]) => {
        const { name } = node.attributes as { name: string };
        return [node, name === "targets" ? other.targets : values];
      }),
    );
    expect(interpret([loss], masked)[0]?.data[0]).toBe(interpret([loss], feeds)[0]?.data[0]);
  });

  test("has the gradient that central differences measure, in every parameter", () => {
    expect(total).toBeLessThan(250);
    const names = [...leaves.keys()];
    const slopes = interpret(gradients(loss, [...leaves.values()]), feeds);
    for (const [i, name] of names.entries()) {
      const measured = differences(loss, leaves.get(name) as Tensor, feeds);
      measured.forEach((slope, k) => {
        expect(slopes[i]?.data[k]).toBeCloseTo(slope, 6);
      });
    }
  });
});

test("low-rank adapters begin as nothing, learn, and merge into the same policy", async () => {
  const base = initialise(architecture, SEED);
  const settings = { ...LORA, targets: ["q_proj", "v_proj", "down_proj"] };
  const { list, total } = adapterParameters(architecture, settings);
  expect(total).toBeLessThan(base.length / 4);
  const leaves = new Map<string, Tensor>(
    placed.map(({ name, shape }) => [name, input(name, shape)]),
  );
  const frozen = Object.fromEntries(
    placed.map(({ name, offset, size }) => [name, base.subarray(offset, offset + size)]),
  );
  const trainer = await Trainer.create(
    list,
    (adapters) => ({
      loss: sftLoss(
        architecture,
        withAdapters((name) => leaves.get(name) as Tensor, adapters, settings),
        SHAPE,
      ),
    }),
    startState(initialiseAdapters(list, total, 1)),
  );
  const losses: number[] = [];
  for (let step = 1; step <= 30; step++) {
    const { used: _, ...batch } = texts.batch(step, SHAPE.batch, SHAPE.length, SEED);
    losses.push((await trainer.step({ ...frozen, ...batch }, 1e-2)).loss);
  }
  const adapters = Float32Array.from(trainer.state.parameters);
  await trainer.close();
  const plain = await train(1, start());
  expect(losses[0]).toBeCloseTo(plain.losses[0] as number, 5);
  expect(losses.at(-1)).toBeLessThan(0.8 * (losses[0] as number));

  const merged = mergeAdapters(base, placed, adapters, list, settings);
  const tokens = input("tokens", [1, 4], "i64");
  const adapted = new Map<string, Tensor>(
    list.map(({ name, shape }) => [name, input(name, shape)]),
  );
  const weights = (name: string) => leaves.get(name) as Tensor;
  const session = await Session.create({
    adapted: logitsOf(architecture, withAdapters(weights, adapted, settings), tokens),
  });
  const whole = await Session.create({ merged: logitsOf(architecture, weights, tokens) });
  const ids = { tokens: BigInt64Array.from([1, 3, 4, 5], BigInt) };
  const views = (flat: Float32Array, places: typeof list) =>
    Object.fromEntries(
      places.map(({ name, offset, size }) => [name, flat.subarray(offset, offset + size)]),
    );
  const a = await session.run({ ...frozen, ...views(adapters, list), ...ids });
  const b = await whole.run({ ...views(merged, placed), ...ids });
  await Promise.all([session.close(), whole.close()]);
  (a.adapted as Float32Array).forEach((x, i) => {
    expect(Math.abs(x - Number(b.merged?.[i]))).toBeLessThan(1e-4);
  });
});

describe("texts", () => {
  test("come once in each epoch, in an order of their own", () => {
    const seen = new Map<string, number>();
    for (let step = 1; step <= 3; step++) {
      const { tokens } = texts.batch(step, 8, 16, SEED);
      for (let row = 0; row < 8; row++) {
        const key = tokens.slice(row * 16, row * 16 + 5).join();
        seen.set(key, (seen.get(key) ?? 0) + 1);
      }
    }
    expect([...seen.values()]).toEqual(Array.from({ length: 24 }, () => 1));
    expect(texts.batch(1, 8, 16, SEED)).not.toEqual(texts.batch(1, 8, 16, SEED + 1));
  });

  test.each([
    ["an empty file", "", /is empty/],
    ["a row without a completion", '{"id":"a","prompt":"1"}\n', /prompt and completion/],
    [
      "a text that is too long",
      `{"id":"a","prompt":"1","completion":"${"1".repeat(40)}"}\n`,
      /"a" has 43 tokens/,
    ],
    ["an unknown character", '{"id":"a","prompt":"ü","completion":"1"}\n', /ü|U\+00FC/],
  ])("refuse %s", async (_, content, message) => {
    const file = path.join(folder, "bad.jsonl");
    writeFileSync(file, content);
    await expect(Texts.read(file, tokenizer, 32)).rejects.toThrow(message);
  });
});

test("schedules rise, hold and fall as they say", () => {
  const at = (shape: "constant" | "linear" | "cosine", step: number) =>
    rateAt(step, 110, { peak: 1, warmup: 10, end: 0.1, shape });
  expect(at("cosine", 1)).toBeCloseTo(1 / 11);
  expect(at("constant", 110)).toBe(1);
  expect(at("linear", 60)).toBeCloseTo(0.55);
  expect(at("linear", 110)).toBeCloseTo(0.1);
  expect(at("cosine", 60)).toBeCloseTo(0.55);
  expect(at("cosine", 110)).toBeCloseTo(0.1);
});
