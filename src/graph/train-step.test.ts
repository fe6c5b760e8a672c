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
import { ADAM, type AdamSettings, gradientStep, type Model, updateStep } from "./train-step.ts";

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

/** Results as numbers, with inputs fed by name. */
function inFloat64(
  results: readonly Tensor[],
  fed: Readonly<Record<string, ArrayLike<number>>>,
): ArrayLike<number>[] {
  const feeds = inOrder(results).flatMap((leaf): [Tensor, ArrayLike<number>][] => {
    if (leaf.op.name !== "input") return [];
    return [[leaf, fed[(leaf.attributes as { name: string }).name] ?? []]];
  });
  return interpret(results, new Map(feeds)).map(({ data }) => data);
}

describe.each([
  ["as it is", ADAM],
  ["without clipping", { ...ADAM, clipNorm: 0 }],
  ["with weight decay", { ...ADAM, weightDecay: 0.1 }],
] as const)("AdamW %s", (_, settings) => {
  const start: State = { p: draw("p"), m: draw("m").map((x) => x - 0.5), v: draw("v") };
  const slope = gradientStep(list, total, model);
  const step = updateStep(total, settings);
  const numbers = {
    learning_rate: 0.01,
    correction1: 1 / (1 - settings.beta1 ** 7),
    correction2: 1 / (1 - settings.beta2 ** 7),
  };
  const right = byHand(start, 0.01, 7, settings);

  test("in float64", () => {
    const fed = {
      ...{ parameters: start.p, m: start.m, v: start.v },
      ...Object.fromEntries(Object.entries(numbers).map(([name, x]) => [name, [x]])),
    };
    const [gradient = []] = inFloat64([slope.gradient as Tensor], fed);
    const results = [step.next_parameters, step.next_m, step.next_v] as Tensor[];
    const [p, m, v] = inFloat64(results, { ...fed, gradient });
    for (const [found, wanted] of [
      [p, right.p],
      [m, right.m],
      [v, right.v],
    ] as const) {
      wanted.forEach((x, i) => {
        expect(found?.[i]).toBeCloseTo(x, 9);
      });
    }
  });

  test("in ONNX Runtime", async () => {
    const [backward, move] = [await Session.create(slope), await Session.create(step)];
    const feed = (values: readonly number[]) => Float32Array.from(values);
    const parameters = feed(start.p);
    const { gradient } = await backward.run({ parameters });
    const run = await move.run({
      ...{ parameters, m: feed(start.m), v: feed(start.v), gradient: gradient as Float32Array },
      ...Object.fromEntries(Object.entries(numbers).map(([name, x]) => [name, feed([x])])),
    });
    await Promise.all([backward, move].map((session) => session.close()));
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
  const parameters = numbers("p", total);
  const partAt = (from: number, count: number) => ({
    parameters,
    x: batch.x.subarray(from * width, (from + count) * width),
    y: batch.y.subarray(from, from + count),
  });

  test.each([
    ["halves", 3],
    ["parts of two rows", 2],
    ["single rows", 1],
  ])("adds up to what the whole gives: %s", async (_, size) => {
    const whole = await Session.create(gradientStep(list, total, regression(rows)));
    const right = await whole.run(partAt(0, rows));
    const slope = await Session.create(gradientStep(list, total, regression(size)));
    const sums = { gradient: new Float32Array(total), loss: [0], missed: [0] };
    for (let at = 0; at < rows; at += size) {
      const part = await slope.run(partAt(at, size));
      for (const [name, sum] of Object.entries(sums)) {
        for (let i = 0; i < sum.length; i++) sum[i] = Number(sum[i]) + Number(part[name]?.[i]);
      }
    }
    await Promise.all([whole, slope].map((session) => session.close()));
    for (const [name, sum] of Object.entries(sums)) {
      expect(right[name]).toHaveLength(sum.length);
      for (let i = 0; i < sum.length; i++) {
        expect(sum[i]).toBeCloseTo(Number(right[name]?.[i]), 5);
      }
    }
  });

  test("the sum of the parts' gradients is that of the whole, in float64 to the last digits", () => {
    const slopeOf = (from: number, count: number) => {
      const node = gradientStep(list, total, regression(count)).gradient as Tensor;
      return Array.from(inFloat64([node], partAt(from, count))[0] ?? []);
    };
    const whole = slopeOf(0, rows);
    const [first, second] = [slopeOf(0, rows / 2), slopeOf(rows / 2, rows / 2)];
    expect(whole).toHaveLength(total);
    whole.forEach((x, i) => {
      expect((first[i] as number) + (second[i] as number)).toBeCloseTo(x, 12);
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
