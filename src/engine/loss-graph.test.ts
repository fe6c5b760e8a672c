/** The graph of a loss on a tiny policy: what is recorded, the KL penalty, and batches in parts. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import { actionCount, completionRow, promptLength } from "../core/token-row.ts";
import { gradients } from "../graph/gradients.ts";
import { differences, interpret } from "../graph/interpret.ts";
import { inOrder } from "../graph/order.ts";
import { place } from "../graph/parameters.ts";
import { Session } from "../graph/session.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import type { Algorithm } from "../learn/algorithm.ts";
import { algorithmOf } from "../learn/algorithms/index.ts";
import { type TrainSettings, trainSettings } from "../learn/settings.ts";
import { lossCallOf, updateOn } from "../learn/update.ts";
import { type Architecture, attentionLength, parametersOf } from "../policy/architecture.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { type Checkpoint, checkpointOf } from "../policy/checkpoint.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import { packRows } from "../policy/packing.ts";
import { readSafetensors } from "../policy/safetensors.ts";
import { logitsOf } from "../policy/transformer.ts";
import { batchShape, collate, type Feeds } from "./collate.ts";
import { LocalEngine } from "./local-engine.ts";
import type { KlEstimator, TrainingRow } from "./loss.ts";
import { columnsOf, combinedMetrics, klEstimate, lossGraph } from "./loss-graph.ts";

const tiny: Architecture = {
  ...SIZES.nano,
  ...{ vocabulary: 6, width: 4, layers: 1, heads: 2, keyHeads: 1, headSize: 2, inner: 6 },
  valueHead: true,
};
const { list, total } = place(parametersOf(tiny));
/** Far enough from uniform that entropies and likeliest tokens differ from place to place. */
const parameters = (() => {
  const rng = rngAt("model", "value head");
  return initialise(tiny, 2).map((x, i) => {
    const last = i >= total - tiny.width;
    return last ? rng.next() - 0.5 : x === 1 ? 1.1 : 25 * x;
  });
})();

const MOST_TOKENS = 4;
const ROWS: readonly TrainingRow[] = [
  { tokens: [1, 3, 4, 5, 2], actions: [[2, 5]], columns: { reference: [-1.875, -1.5, -2.25] } },
  { tokens: [1, 5, 5, 2], actions: [[3, 4]], columns: { reference: [-0.8125] } },
];
/** A loss graph with everything fed that it asks for. */
function graphOf(
  algorithm: Algorithm,
  kl?: KlEstimator,
  rows: readonly TrainingRow[] = ROWS,
  flat: Float32Array = parameters,
) {
  const leaves = new Map<string, Tensor>(list.map(({ name, shape }) => [name, input(name, shape)]));
  const packing = packRows(rows, { attentionLength: attentionLength(tiny) });
  // Twice as many rows as there are, so that half of them are padding.
  const shape = { ...batchShape(rows, packing, MOST_TOKENS), rows: 2 * rows.length };
  const { loss, metrics } = lossGraph(tiny, (name) => leaves.get(name) as Tensor, shape, {
    ...{ columns: algorithm.columns, kl },
    build: (inputs) => algorithm.loss(inputs, algorithm.settings.parse({})),
  });
  const parts = collate(rows, packing, shape, {
    ...{ columns: columnsOf({ columns: algorithm.columns, kl }), reduction: "dapo" },
    ...{ maxTokens: MOST_TOKENS, microBatchSize: null },
  });
  expect(parts).toHaveLength(1);
  const [made] = parts as [() => Feeds];
  const part = made();
  const named: Feeds = {
    ...part,
    kl_coefficient: Float32Array.of(0.25),
    ...Object.fromEntries(
      list.map(({ name, offset, size }) => [name, flat.subarray(offset, offset + size)]),
    ),
  };
  const feeds = new Map<Tensor, ArrayLike<number>>(
    inOrder([loss, ...Object.values(metrics)]).flatMap((node) =>
      node.op.name === "input"
        ? [[node, Array.from(named[(node.attributes as { name: string }).name] ?? [], Number)]]
        : [],
    ),
  );
  const names = Object.keys(metrics);
  const [value, ...seen] = interpret([loss, ...Object.values(metrics)], feeds);
  return {
    ...{ loss, metrics, leaves, named, feeds, part },
    value: value?.data[0] as number,
    seen: Object.fromEntries(names.map((name, i) => [name, seen[i]?.data[0] as number])),
  };
}

/** The next-token distribution at each place, from the logits alone. */
function distributions(rows: readonly TrainingRow[], flat = parameters): number[][][] {
  return rows.map(({ tokens }) => {
    const ids = input("tokens", [1, tokens.length - 1], "i64");
    const leaves = new Map<string, Tensor>(
      list.map(({ name, shape }) => [name, input(name, shape)]),
    );
    const feeds = new Map<Tensor, ArrayLike<number>>([[ids, tokens.slice(0, -1)]]);
    for (const { name, offset, size } of list) {
      feeds.set(leaves.get(name) as Tensor, flat.subarray(offset, offset + size));
    }
    const [logits] = interpret([logitsOf(tiny, (name) => leaves.get(name) as Tensor, ids)], feeds);
    return Array.from({ length: tokens.length - 1 }, (_, t) => {
      const own = [...(logits?.data ?? [])].slice(t * tiny.vocabulary, (t + 1) * tiny.vocabulary);
      const weights = own.map(Math.exp);
      const all = weights.reduce((a, b) => a + b, 0);
      return weights.map((w) => w / all);
    });
  });
}

/** Of each learned token: the distribution it was drawn from, its id, its log-prob. */
function learned(rows: readonly TrainingRow[], flat = parameters) {
  return distributions(rows, flat).flatMap((places, r) => {
    const row = rows[r] as TrainingRow;
    return places.flatMap((p, t) => {
      const token = row.tokens[t + 1] as number;
      return t + 1 < promptLength(row) ? [] : [{ p, token, logprob: Math.log(p[token] as number) }];
    });
  });
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

describe("what every loss records", () => {
  const { seen, value, loss, metrics, named } = graphOf(algorithmOf("sft"));
  const tokens = learned(ROWS);
  const entropy = mean(tokens.map(({ p }) => -p.reduce((sum, x) => sum + x * Math.log(x), 0)));
  const accuracy = mean(tokens.map(({ p, token }) => Number(p[token] === Math.max(...p))));

  test("the loss is that of the learned tokens", () => {
    expect(tokens).toHaveLength(4);
    expect(value).toBeCloseTo(-mean(tokens.map(({ logprob }) => logprob)), 9);
  });

  test("entropy is that of the whole next-token distribution, in nats per learned token", () => {
    expect(combinedMetrics([seen], 4).entropy).toBeCloseTo(entropy, 9);
    expect(entropy).toBeLessThan(0.99 * Math.log(tiny.vocabulary));
  });

  test("token accuracy is the share of targets that were the likeliest", () => {
    expect(combinedMetrics([seen], 4).token_accuracy).toBe(accuracy);
    // And 1 where the likeliest ones are learned.
    const greedy = ROWS.map((row): TrainingRow => {
      const [places] = distributions([row]) as [number[][]];
      const best = (p: number[]) => p.indexOf(Math.max(...p));
      const last = row.tokens.length - 1;
      return {
        ...row,
        tokens: [...row.tokens.slice(0, last), best(places[last - 1] as number[])],
        actions: [[last, last + 1]],
        columns: {},
      };
    });
    expect(
      combinedMetrics([graphOf(algorithmOf("sft"), undefined, greedy).seen], 2).token_accuracy,
    ).toBe(1);
  });

  test("the runtime's float32 says the same", async () => {
    const session = await Session.create({ loss, ...metrics });
    const run = await session.run(named);
    await session.close();
    const found = combinedMetrics(
      [Object.fromEntries(Object.keys(metrics).map((name) => [name, Number(run[name]?.[0])]))],
      4,
    );
    expect(found.entropy).toBeCloseTo(entropy, 5);
    expect(found.token_accuracy).toBe(accuracy);
    expect(Number(run.loss?.[0])).toBeCloseTo(value, 5);
  });
});

describe("parts of a batch are put together", () => {
  test("means over all tokens, sums added, the largest kept", () => {
    const parts = [
      { "mean:entropy": 6, "sum:rewards/margin": 0.25, "max:ratio/max": 1.5 },
      { "mean:entropy": 2, "sum:rewards/margin": 0.5, "max:ratio/max": 3 },
      { "mean:entropy": 0, "sum:rewards/margin": -1, "max:ratio/max": 0 },
    ];
    expect(combinedMetrics(parts, 4)).toEqual({
      entropy: 2,
      "rewards/margin": -0.25,
      "ratio/max": 3,
    });
  });

  test("names may hold a colon of their own; nothing gives nothing", () => {
    expect(combinedMetrics([{ "sum:a:b": 2 }], 1)).toEqual({ "a:b": 2 });
    expect(combinedMetrics([], 1)).toEqual({});
  });

  test("a largest below 0 is kept as it is", () => {
    expect(combinedMetrics([{ "max:x": -3 }, { "max:x": -2 }], 1)).toEqual({ x: -2 });
  });
});

describe("a KL penalty in the loss", () => {
  const sft = algorithmOf("sft");
  const references = ROWS.flatMap(({ columns }) => [...(columns.reference as number[])]);

  test.each(["k1", "k2", "k3"] as const)(
    "adds coefficient · Σ w · %s",
    (estimator: KlEstimator) => {
      const [plain, penalised] = [graphOf(sft).value, graphOf(sft, estimator)];
      const terms = learned(ROWS).map(({ logprob }, i) =>
        klEstimate(estimator, logprob, references[i] as number),
      );
      expect(penalised.value - plain).toBeCloseTo(0.25 * mean(terms), 9);
    },
  );

  test("asks for the reference's log-probs", () => {
    expect(columnsOf(sft)).toEqual({});
    expect(columnsOf({ columns: sft.columns, kl: "k3" })).toEqual({ reference: "token" });
  });

  test.each(["k1", "k2", "k3"] as const)(
    "%s has the gradient that central differences measure",
    (estimator) => {
      const { loss, leaves, feeds } = graphOf(sft, estimator);
      const names = ["model.norm.weight", "model.layers.0.self_attn.v_proj.weight"];
      const wrt = names.map((name) => leaves.get(name) as Tensor);
      const slopes = interpret(gradients(loss, wrt), feeds);
      for (const [i, x] of wrt.entries()) {
        differences(loss, x, feeds).forEach((slope, k) => {
          expect(slopes[i]?.data[k]).toBeCloseTo(slope, 6);
        });
      }
    },
  );

  test("is not touched by tokens that are not learned, however unlikely they are", () => {
    // A policy that is certain: prompts and padding have log-probs below -1000.
    const sure = parameters.map((x, i) => {
      const { offset = 0, size = 0 } = list.find(({ name }) => name === "model.norm.weight") ?? {};
      return i >= offset && i < offset + size ? 3000 * x : x;
    });
    const rows = ROWS.map((row): TrainingRow => {
      const [places] = distributions([row]) as [number[][]];
      const last = row.tokens.length - 1;
      const best = (p: number[]) => p.indexOf(Math.max(...p));
      return {
        tokens: [...row.tokens.slice(0, last), best(places[last - 1] as number[])],
        actions: [[last, last + 1]],
        columns: { reference: [-0.125] },
      };
    });
    const { value, loss, leaves, feeds } = graphOf(sft, "k3", rows, sure);
    expect(value).toBeCloseTo(0.25 * (Math.exp(-0.125) + 0.125 - 1), 9);
    const [slope] = interpret(gradients(loss, [leaves.get("value_head.weight") as Tensor]), feeds);
    for (const x of slope?.data ?? []) expect(Number.isFinite(x)).toBe(true);
    const [norm] = interpret(gradients(loss, [leaves.get("model.norm.weight") as Tensor]), feeds);
    for (const x of norm?.data ?? []) expect(Number.isFinite(x)).toBe(true);
  });
});

describe("ppo on a policy with a value head", () => {
  const rows = ROWS.map((row, r): TrainingRow => {
    const count = actionCount(row);
    const numbers = (name: string, low: number, high: number) => {
      const rng = rngAt("ppo rows", name, r);
      return Array.from({ length: count }, () => low + (high - low) * rng.next());
    };
    return {
      ...row,
      columns: {
        old: numbers("old", -2, -0.5),
        advantage: numbers("advantage", -1, 1),
        old_value: numbers("value", -0.5, 0.5),
        return: numbers("return", -1, 1),
      },
    };
  });

  test("has the gradient that central differences measure, in every parameter", () => {
    const { loss, leaves, feeds } = graphOf(algorithmOf("ppo"), undefined, rows);
    const slopes = interpret(gradients(loss, [...leaves.values()]), feeds);
    for (const [i, [name, x]] of [...leaves].entries()) {
      const measured = differences(loss, x, feeds);
      measured.forEach((slope, k) => {
        expect(slopes[i]?.data[k], name).toBeCloseTo(slope, 6);
      });
      expect(measured.some((slope) => slope !== 0)).toBe(true);
    }
  });
});

const NO_TIME = { sampling: 0, scoring: 0, logprobs: 0 };

describe("an update", () => {
  const tokenizer = new CharacterTokenizer("0123456789+=");
  const architecture: Architecture = {
    ...SIZES.nano,
    ...{ vocabulary: tokenizer.size, width: 16, layers: 1, heads: 2, keyHeads: 1, headSize: 8 },
    ...{ inner: 24 },
  };
  const start: Checkpoint = checkpointOf({
    ...{ architecture, tokenizer, trained: null, maxLength: 32 },
    parameters: initialise(architecture, 3).map((x) => (x === 1 ? 1 : 8 * x)),
  });
  const texts = ["1+2=3", "10+5=15", "7+7=14", "0+0=0", "99+1=100", "8+35=43", "6=6", "12+12=24"];
  const rows: readonly TrainingRow[] = [...texts, "30+4=34", "5+60=65"].map((text, r) => {
    const [prompt, completion] = text.split("=") as [string, string];
    const before = [1, ...tokenizer.encode(`${prompt}=`)];
    const own = [...tokenizer.encode(completion), 2];
    const rng = rngAt("update", r);
    return {
      ...completionRow(before, own),
      columns: {
        old: own.map(() => -2 - rng.next()),
        advantage: own.map(() => (r % 2 ? -1 : 1) * (0.5 + rng.next())),
      },
    };
  });
  const data = { rows: rows.length };

  /** Adam's first step is a sign wherever the gradient is tiny; a large epsilon makes it a slope. */
  const GENTLE = { epsilon: 0.01 };

  async function updated(name: string, settings: Partial<TrainSettings>, steps = 2) {
    const algorithm = algorithmOf(name);
    const whole = trainSettings(algorithm, { steps: 9, adam: GENTLE, ...settings } as never);
    const engine = new LocalEngine(start, { threads: 1 });
    const loss = lossCallOf(engine.can, algorithm, whole, 4);
    const plan = { loss, algorithm, settings: whole, data };
    const batch = { rows, klCoefficient: 0, metrics: {}, seconds: NO_TIME };
    const moved = [];
    for (let step = 1; step <= steps; step++) {
      moved.push(await updateOn(engine, plan, batch, step, 0.01));
    }
    const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-update-"));
    await engine.saveState(dir);
    const { step: moves } = JSON.parse(readFileSync(path.join(dir, "engine.json"), "utf8"));
    const parameters = (await readSafetensors(path.join(dir, "engine.safetensors"))).get(
      "parameters",
    )?.data as Float32Array;
    rmSync(dir, { recursive: true });
    await engine.close();
    return { moved, moves: moves as number, parameters };
  }

  const far = (a: Float32Array, b: Float32Array) =>
    a.reduce((most, x, i) => Math.max(most, Math.abs(x - (b[i] as number))), 0);

  const partsOf = (mostRows?: number) =>
    packRows(rows, { mostRows, attentionLength: attentionLength(architecture) }).parts.length;

  describe.each(["sft", "grpo"])("of %s in more parts", (name) => {
    test.each([1, 2, 3, 4])("of %i rows moves as in few", async (micro_batch_size) => {
      expect(partsOf(micro_batch_size)).toBeGreaterThan(partsOf());
      const [whole, parts] = [await updated(name, {}), await updated(name, { micro_batch_size })];
      expect(far(whole.parameters, start.parameters)).toBeGreaterThan(1e-3);
      expect(far(parts.parameters, whole.parameters)).toBeLessThan(1e-6);
      for (const [i, { metrics, loss, gradientNorm, tokens }] of whole.moved.entries()) {
        expect(parts.moved[i]?.loss).toBeCloseTo(loss, 5);
        expect(parts.moved[i]?.gradientNorm).toBeCloseTo(gradientNorm, 5);
        expect(parts.moved[i]?.tokens).toBe(tokens);
        for (const [key, value] of Object.entries(metrics)) {
          expect(parts.moved[i]?.metrics[key], key).toBeCloseTo(value, 5);
        }
      }
    });
  });

  test("a reduction by micro-batches does depend on them", async () => {
    const algorithm = { reduction: "bnpo" };
    const [whole, parts] = [
      await updated("sft", { algorithm }),
      await updated("sft", { algorithm, micro_batch_size: 2 }),
    ];
    expect(far(parts.parameters, whole.parameters)).toBeGreaterThan(1e-5);
  });

  test("goes through epochs and minibatches, each row once in an epoch", async () => {
    const algorithm = { epochs: 3, minibatches: 2 };
    const { moves, moved } = await updated("grpo", { algorithm }, 1);
    expect(moves).toBe(6);
    const once = await updated("grpo", {}, 1);
    expect(moved[0]?.tokens).toBe(3 * (once.moved[0]?.tokens ?? 0));
  });

  test("counts the tokens it trained on, and says what it saw before the first move", async () => {
    const { moved } = await updated("grpo", { algorithm: { epochs: 4 } }, 1);
    const [first] = (await updated("grpo", {}, 1)).moved;
    expect(moved[0]?.metrics["check/logprob_gap"]).toBe(first?.metrics["check/logprob_gap"]);
    expect(first?.tokens).toBe(rows.reduce((sum, { tokens }) => sum + tokens.length - 1, 0));
  });
});
