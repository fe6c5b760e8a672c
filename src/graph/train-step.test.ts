/** A whole training step against the same arithmetic in float64, written out by hand. */

import { describe, expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import { interpret } from "./interpret.ts";
import { abs, mul, square, sub } from "./ops/elementwise.ts";
import { concat, reshape } from "./ops/layout.ts";
import { matmul } from "./ops/product.ts";
import { sum } from "./ops/reduce.ts";
import { inOrder } from "./order.ts";
import { place } from "./parameters.ts";
import { Session } from "./session.ts";
import { constant, input, type Tensor } from "./tensor.ts";
import {
  ADAM,
  type AdamSettings,
  gradientStep,
  type Model,
  trainStep,
  updateStep,
} from "./train-step.ts";

const { list, total } = place([
  { name: "a", shape: [2, 2] },
  { name: "b", shape: [3] },
]);
const goal = constant([1, -2, 3, -4], [2, 2]);
/** Quadratic, so that the gradient is known: 2 (a − goal), and 6 b. */
const model: Model = (parameters) => {
  const [a, b] = [parameters.get("a") as Tensor, parameters.get("b") as Tensor];
  const miss = sub(a, goal);
  const loss = sum(mul(miss, miss));
  return { loss: sub(loss, mul(-3, sum(mul(b, b)))) };
};

function draw(name: string): number[] {
  const rng = rngAt(name);
  return Array.from({ length: total }, () => Math.fround(rng.next()));
}

interface State {
  readonly p: readonly number[];
  readonly m: readonly number[];
  readonly v: readonly number[];
}

function byHand({ p, m, v }: State, rate: number, step: number, s: AdamSettings): State {
  const goals = [1, -2, 3, -4];
  const slope = p.map((x, i) => (i < 4 ? 2 * (x - (goals[i] as number)) : 6 * x));
  const norm = Math.hypot(...slope);
  const clipped = slope.map((g) => (s.clipNorm === 0 ? g : g * Math.min(1, s.clipNorm / norm)));
  const nextM = m.map((x, i) => s.beta1 * x + (1 - s.beta1) * (clipped[i] as number));
  const nextV = v.map((x, i) => s.beta2 * x + (1 - s.beta2) * (clipped[i] as number) ** 2);
  const next = p.map((x, i) => {
    const [mean, spread] = [
      (nextM[i] as number) / (1 - s.beta1 ** step),
      (nextV[i] as number) / (1 - s.beta2 ** step),
    ];
    return x - rate * s.weightDecay * x - (rate * mean) / (Math.sqrt(spread) + s.epsilon);
  });
  return { p: next, m: nextM, v: nextV };
}

describe.each([
  ["as it is", ADAM],
  ["without clipping", { ...ADAM, clipNorm: 0 }],
  ["with weight decay", { ...ADAM, weightDecay: 0.1 }],
] as const)("AdamW %s", (_, settings) => {
  const start: State = { p: draw("p"), m: draw("m").map((x) => x - 0.5), v: draw("v") };
  const step = trainStep(list, total, model, settings);
  const numbers = {
    learning_rate: 0.01,
    correction1: 1 / (1 - settings.beta1 ** 7),
    correction2: 1 / (1 - settings.beta2 ** 7),
  };
  const right = byHand(start, 0.01, 7, settings);

  test("in float64", () => {
    const leaves = new Map<string, Tensor>();
    const visit = (node: Tensor) => {
      const { name } = (node.attributes ?? {}) as { name?: string };
      if (node.op.name === "input" && name) leaves.set(name, node);
      for (const inner of node.inputs) visit(inner);
    };
    for (const result of Object.values(step)) visit(result);
    const fed: Record<string, readonly number[]> = {
      parameters: start.p,
      m: start.m,
      v: start.v,
      ...Object.fromEntries(Object.entries(numbers).map(([name, x]) => [name, [x]])),
    };
    const feeds = new Map([...leaves].map(([name, leaf]) => [leaf, fed[name] ?? []]));
    const [p, m, v] = interpret(
      [step.next_parameters, step.next_m, step.next_v] as Tensor[],
      feeds,
    );
    for (const [found, wanted] of [
      [p, right.p],
      [m, right.m],
      [v, right.v],
    ] as const) {
      wanted.forEach((x, i) => {
        expect(found?.data[i]).toBeCloseTo(x, 9);
      });
    }
  });

  test("in ONNX Runtime", async () => {
    const session = await Session.create(step);
    const feed = (values: readonly number[]) => Float32Array.from(values);
    const run = await session.run({
      parameters: feed(start.p),
      m: feed(start.m),
      v: feed(start.v),
      ...Object.fromEntries(Object.entries(numbers).map(([name, x]) => [name, feed([x])])),
    });
    await session.close();
    right.p.forEach((x, i) => {
      expect(run.next_parameters?.[i]).toBeCloseTo(x, 5);
    });
  });
});

describe("a batch in parts", () => {
  const [rows, width] = [6, total];
  /** Linear regression: the loss of the batch is the sum of its parts' losses. */
  const regression =
    (count: number): Model =>
    (parameters) => {
      const flat = concat(
        ["a", "b"].map((name) => reshape(parameters.get(name) as Tensor, [-1, 1])),
        0,
      );
      const miss = sub(matmul(input("x", [count, width]), flat), input("y", [count, 1]));
      const loss = mul(sum(square(miss)), 1 / rows);
      return { loss, metrics: { missed: sum(abs(miss)) } };
    };
  const numbers = (name: string, size: number) => {
    const rng = rngAt("parts", name);
    return Float32Array.from({ length: size }, () => 2 * rng.next() - 1);
  };
  const batch = { x: numbers("x", rows * width), y: numbers("y", rows) };
  const state = {
    parameters: numbers("p", total),
    m: numbers("m", total),
    v: numbers("v", total).map(Math.abs),
    learning_rate: Float32Array.of(0.01),
    correction1: Float32Array.of(1 / (1 - ADAM.beta1 ** 3)),
    correction2: Float32Array.of(1 / (1 - ADAM.beta2 ** 3)),
  };

  test.each([
    ["parts of one size", 2, ADAM],
    ["single rows", 1, ADAM],
    ["one part that is everything", 6, ADAM],
    ["a norm that is not clipped", 3, { ...ADAM, clipNorm: 0 }],
    ["a norm that is", 3, { ...ADAM, clipNorm: 0.05 }],
  ] as const)("moves as the whole does: %s", async (_, size, settings) => {
    const whole = await Session.create(trainStep(list, total, regression(rows), settings));
    const right = await whole.run({ ...batch, ...state });
    const gather = await Session.create(gradientStep(list, total, regression(size)));
    const move = await Session.create(updateStep(total, settings));
    let gathered = new Float32Array(total);
    let [loss, missed] = [0, 0];
    for (let at = 0; at < rows; at += size) {
      const part = await gather.run({
        parameters: state.parameters,
        gathered,
        x: batch.x.subarray(at * width, (at + size) * width),
        y: batch.y.subarray(at, at + size),
      });
      gathered = part.next_gathered as Float32Array<ArrayBuffer>;
      loss += Number(part.loss?.[0]);
      missed += Number(part.missed?.[0]);
    }
    const moved = await move.run({ ...state, gathered });
    await Promise.all([whole, gather, move].map((session) => session.close()));
    expect(loss).toBeCloseTo(Number(right.loss?.[0]), 6);
    expect(missed).toBeCloseTo(Number(right.missed?.[0]), 5);
    for (const name of ["next_parameters", "next_m", "next_v", "gradient_norm"]) {
      const [found, wanted] = [moved[name] ?? [], right[name] ?? []];
      expect(found).toHaveLength(wanted.length);
      wanted.forEach((x, i) => {
        expect(Math.abs(Number(found[i]) - Number(x))).toBeLessThan(1e-6);
      });
    }
  });

  test("the gathered gradient is that of the whole, in float64 to the last digits", () => {
    const slope = (count: number) => gradientStep(list, total, regression(count)).next_gathered;
    const gatheredOf = (node: Tensor, from: number, before: ArrayLike<number>) => {
      const feeds = new Map(
        inOrder([node]).flatMap((leaf): [Tensor, ArrayLike<number>][] => {
          if (leaf.op.name !== "input") return [];
          const { name, shape } = leaf.attributes as { name: string; shape: readonly number[] };
          const count = shape[0] as number;
          if (name === "x") return [[leaf, batch.x.subarray(from * width, (from + count) * width)]];
          if (name === "y") return [[leaf, batch.y.subarray(from, from + count)]];
          return [[leaf, name === "gathered" ? before : state.parameters]];
        }),
      );
      return interpret([node], feeds)[0]?.data ?? [];
    };
    const nothing = new Float64Array(total);
    const whole = gatheredOf(slope(rows) as Tensor, 0, nothing);
    const half = slope(rows / 2) as Tensor;
    const both = gatheredOf(half, rows / 2, gatheredOf(half, 0, nothing));
    expect(whole).toHaveLength(total);
    whole.forEach((x, i) => {
      expect(both[i]).toBeCloseTo(x, 12);
    });
  });
});

test("results are written into memory that the caller keeps", async () => {
  const session = await Session.create({ y: mul(input("x", [3]), 2) });
  const memory = new Float32Array(3);
  await session.run({ x: Float32Array.of(1, 2, 3) }, { y: session.tensor(memory, [3]) });
  await session.close();
  expect([...memory]).toEqual([2, 4, 6]);
});
