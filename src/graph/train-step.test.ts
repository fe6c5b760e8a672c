/** A whole training step against the same arithmetic in float64, written out by hand. */

import { describe, expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import { interpret } from "./interpret.ts";
import { mul, sub } from "./ops/elementwise.ts";
import { sum } from "./ops/reduce.ts";
import { place } from "./parameters.ts";
import { Session } from "./session.ts";
import { constant, input, type Tensor } from "./tensor.ts";
import { ADAM, type AdamSettings, type Model, trainStep } from "./train-step.ts";

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

test("results are written into memory that the caller keeps", async () => {
  const session = await Session.create({ y: mul(input("x", [3]), 2) });
  const memory = new Float32Array(3);
  await session.run({ x: Float32Array.of(1, 2, 3) }, { y: session.tensor(memory, [3]) });
  await session.close();
  expect([...memory]).toEqual([2, 4, 6]);
});
