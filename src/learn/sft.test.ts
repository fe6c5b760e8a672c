/** Supervised fine-tuning on a handful of sums: it learns, the same bytes every time, and can go on. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../core/json.ts";
import { completionRow } from "../core/token-row.ts";
import { batchShape, collate, type Feeds } from "../engine/collate.ts";
import type { Engine } from "../engine/engine.ts";
import { LocalEngine } from "../engine/local-engine.ts";
import type { GraphLoss } from "../engine/loss.ts";
import { lossGraph } from "../engine/loss-graph.ts";
import { startState, type TrainState } from "../engine/optimiser.ts";
import { adapters, everything, type Trainable } from "../engine/trainable.ts";
import { Updater } from "../engine/updater.ts";
import { gradients } from "../graph/gradients.ts";
import { differences, interpret } from "../graph/interpret.ts";
import { inOrder } from "../graph/order.ts";
import { place } from "../graph/parameters.ts";
import { Session } from "../graph/session.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import { type Architecture, attentionLength, parametersOf } from "../policy/architecture.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { checkpointOf } from "../policy/checkpoint.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import { Lanes, VECTORS } from "../policy/lanes.ts";
import { adapterParameters, LORA, withAdapters } from "../policy/lora.ts";
import { packRows } from "../policy/packing.ts";
import { hashOfWeights } from "../policy/safetensors.ts";
import { logitsOf } from "../policy/transformer.ts";
import { algorithmOf } from "./algorithms/index.ts";
import { trainSettings } from "./settings.ts";
import { SeededOrder } from "./sources/order.ts";
import { itemsOf, Texts, toText } from "./sources/texts.ts";
import { lossCallOf, rateAt, updateOn } from "./update.ts";

const tokenizer = new CharacterTokenizer("0123456789+= Final:");
const architecture: Architecture = { ...SIZES.nano, vocabulary: tokenizer.size };
const SEED = 5;
const begin = checkpointOf({
  ...{ architecture, tokenizer, trained: null, maxLength: 32 },
  parameters: initialise(architecture, SEED),
});
const sft = algorithmOf("sft");
const { encoder, can: LOCAL } = new LocalEngine(begin, { threads: 1 });
const NO_TIME = { sampling: 0, scoring: 0, logprobs: 0 };

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
  texts = await Texts.read(file, toText, encoder);
});

/** What a step learns from. */
function rowsOf(step: number, batch: number, seed = SEED) {
  const order = new SeededOrder(texts.count, seed, "texts");
  return itemsOf(step, batch, order).flatMap((item) => texts.rowsOf(item));
}

interface Way {
  readonly threads?: number;
  readonly batch?: number;
  readonly settings?: JsonObject;
  readonly trainable?: Trainable;
  readonly rate?: number;
}

const whole = everything(begin);
const start = () => startState(begin.parameters);

/** All steps up to this one, beginning where the state is. */
async function train(
  steps: number,
  from: TrainState,
  { threads = 1, batch = 8, settings = {}, trainable = whole, rate = 3e-3 }: Way = {},
): Promise<{ state: TrainState; losses: number[]; parameters: Float32Array }> {
  const lanes = new Lanes({ architecture, placed: begin.placed, places: 8, threads });
  lanes.put(VECTORS.reference, begin.parameters);
  const updater = new Updater({ architecture, trainable, lanes, threads }, from);
  const all = trainSettings(sft, { steps, ...settings });
  const loss = lossCallOf(LOCAL, sft, all, texts.maxTokens) as GraphLoss;
  const plan = { loss, algorithm: sft, settings: all };
  const engine: Pick<Engine, "update"> = {
    update: (rows, _loss, options) => updater.update(rows, loss, options),
  };
  const losses: number[] = [];
  for (let step = from.step + 1; step <= steps; step++) {
    const rows = rowsOf(step, batch).map((row) => ({ ...row, columns: {} }));
    const given = { rows, klCoefficient: 0, metrics: {}, seconds: NO_TIME };
    losses.push((await updateOn(engine, plan, given, step, rate)).loss);
  }
  const { state } = updater;
  const parameters = Float32Array.from(trainable.whole(state.parameters));
  await updater.close();
  await lanes.close();
  return { state, losses, parameters };
}

test("the loss falls from that of a coin toss among all tokens to nearly nothing", async () => {
  const { losses } = await train(120, start());
  expect(losses[0]).toBeGreaterThan(0.8 * Math.log(tokenizer.size));
  expect(losses.at(-1)).toBeLessThan(0.25);
});

test("same seed, same bytes, with one thread and with two", async () => {
  const [one, again, two] = [
    await train(12, start()),
    await train(12, start()),
    await train(12, start(), { threads: 2 }),
  ];
  expect(again).toEqual(one);
  expect(two.losses).toEqual(one.losses);
  expect(hashOfWeights(two.parameters)).toBe(hashOfWeights(one.parameters));
});

test("also with batches that are large enough to be shared among threads", async () => {
  const large = { batch: 256 };
  const [one, two] = [
    await train(3, start(), large),
    await train(3, start(), { ...large, threads: 2 }),
  ];
  expect(two.losses).toEqual(one.losses);
  expect(hashOfWeights(two.parameters)).toBe(hashOfWeights(one.parameters));
});

test("and with batches in parts", async () => {
  const parts = { settings: { micro_batch_size: 3 } };
  const [one, two] = [
    await train(3, start(), parts),
    await train(3, start(), { ...parts, threads: 2 }),
  ];
  expect(two).toEqual(one);
  const together = await train(3, start());
  one.losses.forEach((loss, i) => {
    expect(loss).toBeCloseTo(together.losses[i] as number, 4);
  });
});

test("stopped and gone on with, it ends where it would have ended", async () => {
  const all = await train(12, start());
  const half = await train(5, start());
  const rest = await train(12, half.state);
  expect(hashOfWeights(rest.parameters)).toBe(hashOfWeights(all.parameters));
  expect([...half.losses, ...rest.losses]).toEqual(all.losses);
});

describe("the loss", () => {
  const tiny: Architecture = {
    ...architecture,
    ...{ vocabulary: 5, width: 4, layers: 1, heads: 2, keyHeads: 1, headSize: 2, inner: 6 },
  };
  const { list, total } = place(parametersOf(tiny));
  const flat = initialise(tiny, 2).map((x) => (x === 1 ? 1.1 : 20 * x));
  const leaves = new Map<string, Tensor>(list.map(({ name, shape }) => [name, input(name, shape)]));
  const row = { ...completionRow([1, 3], [4, 2]), columns: {} };
  const packing = packRows([row], { attentionLength: attentionLength(tiny) });
  const shape = batchShape([row], packing, 2);
  const { loss } = lossGraph(tiny, (name) => leaves.get(name) as Tensor, shape, {
    columns: {},
    build: (inputs) => sft.loss(inputs, sft.settings.parse({})),
  });
  const [made] = collate([row], packing, shape, {
    ...{ columns: {}, reduction: "dapo", maxTokens: 2, microBatchSize: null },
  }) as [() => Feeds];
  const fed = made();
  const feedsWith = (own: Feeds) =>
    new Map<Tensor, ArrayLike<number>>(
      inOrder([loss]).flatMap((node) => {
        const { name } = (node.attributes ?? {}) as { name?: string };
        if (node.op.name !== "input" || name === undefined) return [];
        const at = list.find((parameter) => parameter.name === name);
        const values = at ? flat.subarray(at.offset, at.offset + at.size) : (own[name] ?? []);
        return [[node, Array.from(values as ArrayLike<number | bigint>, Number)]];
      }),
    );
  const feeds = feedsWith(fed);

  test("is the mean over learned tokens only", () => {
    const lossOf = (own: Feeds) => interpret([loss], feedsWith(own))[0]?.data[0];
    const targets = fed.targets as BigInt64Array;
    expect(targets.slice(0, 2)).toEqual(BigInt64Array.of(4n, 2n));
    const changed = (target: number) => ({ ...fed, targets: targets.with(target, 3n) });
    expect(targets.length).toBeGreaterThan(2);
    for (let spare = 2; spare < targets.length; spare++) {
      expect(lossOf(changed(spare))).toBe(lossOf(fed));
    }
    for (const learned of [0, 1]) expect(lossOf(changed(learned))).not.toBe(lossOf(fed));
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
  const settings = { ...LORA, targets: ["q_proj", "v_proj", "down_proj"] };
  const { list, total } = adapterParameters(architecture, settings);
  expect(total).toBeLessThan(begin.parameters.length / 4);
  const trainable = adapters(begin, settings, 1);
  expect(trainable.whole(trainable.start)).toEqual(begin.parameters);
  const tuned = await train(30, startState(trainable.start), { trainable, rate: 1e-2 });
  const plain = await train(1, start());
  expect(tuned.losses[0]).toBeCloseTo(plain.losses[0] as number, 5);
  expect(tuned.losses.at(-1)).toBeLessThan(0.8 * (tuned.losses[0] as number));
  expect(tuned.state.parameters).toHaveLength(total);

  // Only what has an adapter has changed.
  for (const { name, offset, size } of begin.placed) {
    const [was, is] = [begin.parameters, tuned.parameters].map((vector) =>
      hashOfWeights(vector.slice(offset, offset + size)),
    );
    expect(is === was, name).toBe(!settings.targets.some((target) => name.includes(target)));
  }

  const tokens = input("tokens", [1, 4], "i64");
  const leaves = new Map<string, Tensor>(
    begin.placed.map(({ name, shape }) => [name, input(name, shape)]),
  );
  const adapted = new Map<string, Tensor>(
    list.map(({ name, shape }) => [name, input(name, shape)]),
  );
  const weights = (name: string) => leaves.get(name) as Tensor;
  const beside = await Session.create({
    logits: logitsOf(architecture, withAdapters(weights, adapted, settings), tokens),
  });
  const merged = await Session.create({ logits: logitsOf(architecture, weights, tokens) });
  const ids = { tokens: BigInt64Array.from([1, 3, 4, 5], BigInt) };
  const views = (vector: Float32Array, places: typeof list) =>
    Object.fromEntries(
      places.map(({ name, offset, size }) => [name, vector.subarray(offset, offset + size)]),
    );
  const own = views(tuned.state.parameters, list);
  const a = await beside.run({ ...views(begin.parameters, begin.placed), ...own, ...ids });
  const b = await merged.run({ ...views(tuned.parameters, begin.placed), ...ids });
  await Promise.all([beside.close(), merged.close()]);
  (a.logits as Float32Array).forEach((x, i) => {
    expect(Math.abs(x - Number(b.logits?.[i]))).toBeLessThan(1e-4);
  });
});

describe("texts", () => {
  test("come once in each epoch, in an order of their own", () => {
    const seen = new Map<string, number>();
    for (let step = 1; step <= 3; step++) {
      for (const { tokens } of rowsOf(step, 8)) {
        const key = tokens.join();
        seen.set(key, (seen.get(key) ?? 0) + 1);
      }
    }
    expect([...seen.values()]).toEqual(Array.from({ length: 24 }, () => 1));
    expect(rowsOf(1, 8)).not.toEqual(rowsOf(1, 8, SEED + 1));
    expect(rowsOf(4, 8)).not.toEqual(rowsOf(1, 8));
  });

  test("end with the end token, and know where their prompt ends", () => {
    const [row] = texts.rowsOf(7);
    // 1+1= and Final: 2, after the token that begins.
    expect(row?.tokens).toEqual([1, ...tokenizer.encode("1+1=Final: 2"), 2]);
    expect(row?.actions).toEqual([[5, 14]]);
    expect([texts.longest, texts.maxTokens, texts.count]).toEqual([14, 9, 24]);
  });

  test("of several turns are learned in each answer, as the rows of a played episode are", async () => {
    const file = path.join(folder, "conversations.jsonl");
    const said = (role: string, content: string) => ({ role, content });
    const messages = [
      ...[said("system", "a"), said("user", "1+1="), said("assistant", "2")],
      ...[said("tool", " 3"), said("assistant", "4"), said("user", "left out: 5")],
    ];
    writeFileSync(file, `${JSON.stringify({ id: "c", messages })}\n`);
    const read = await Texts.read(file, toText, encoder);
    const [begin, end] = [1, 2];
    const tokens = [begin, ...tokenizer.encode("a1+1=2"), end, ...tokenizer.encode(" 34"), end];
    expect(read.rowsOf(0)).toEqual([
      {
        ...{ tokens },
        actions: [
          [6, 8],
          [10, 12],
        ],
      },
    ]);
    expect([read.longest, read.maxTokens]).toEqual([12, 4]);
    expect(read.prompts.has("a1+1=")).toBe(true);
    expect(read.prompts.has("3+4")).toBe(false);
  });

  test.each([
    ["an empty file", "", /is empty/],
    ["messages without an answer", '{"messages":[{"role":"user","content":"1"}]}\n', /assistant/],
    ["messages without content", '{"messages":[{"role":"assistant"}]}\n', /content and a role/],
    [
      "a row without a completion",
      '{"id":"a","prompt":"1"}\n',
      /bad.jsonl:1: .*prompt and completion/,
    ],
    [
      "a text that is too long",
      `{"id":"a","prompt":"1","completion":"${"1".repeat(40)}"}\n`,
      /"a" has 43 tokens.*context length is 32/,
    ],
    ["an unknown character", '{"id":"a","prompt":"ü","completion":"1"}\n', /ü|U\+00FC/],
    ["what is no JSON", '{"id":"a","prompt":"1","completion":"1"}\n{oops\n', /bad.jsonl:2/],
  ])("refuse %s", async (_, content, message) => {
    const file = path.join(folder, "bad.jsonl");
    writeFileSync(file, content);
    await expect(Texts.read(file, toText, encoder)).rejects.toThrow(message);
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
