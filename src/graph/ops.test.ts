/** Every op: forward against ONNX Runtime, gradient against central differences, edges included. */

import { describe, expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import * as graph from "./index.ts";
import {
  constant,
  differences,
  gradients,
  input,
  interpret,
  Session,
  type Shape,
  type Tensor,
} from "./index.ts";

type Build = (...inputs: Tensor[]) => Tensor;
interface Case {
  readonly name: string;
  readonly shapes: readonly Shape[];
  readonly build: Build;
  /** Where the inputs are drawn from; ops such as Log are not defined everywhere. */
  readonly range?: readonly [number, number];
}

const { add, sub, mul, div, maximum, minimum, where, greater, cast, clip } = graph;
const indices = (values: readonly number[], shape: Shape) => constant(values, shape, "i64");

const pairs: readonly (readonly [Shape, Shape])[] = [
  [
    [2, 3],
    [2, 3],
  ],
  [[2, 3], [3]],
  [
    [2, 1, 3],
    [4, 1],
  ],
  [[], [2, 2]],
  [[1], [3]],
  [[2, 3, 4], []],
];
const shapes: readonly Shape[] = [[], [1], [5], [2, 3], [2, 1, 3]];

const unary = {
  neg: graph.neg,
  exp: graph.exp,
  sigmoid: graph.sigmoid,
  abs: graph.abs,
  silu: graph.silu,
  square: graph.square,
};
const positive = { log: graph.log, sqrt: graph.sqrt };
const binary = { add, sub, mul, div, maximum, minimum };

const CASES: readonly Case[] = [
  ...Object.entries(unary).flatMap(([name, build]) =>
    shapes.map((s): Case => ({ name, shapes: [s], build: build as Build })),
  ),
  ...Object.entries(positive).flatMap(([name, build]) =>
    shapes.map((s): Case => ({ name, shapes: [s], build: build as Build, range: [0.3, 2] })),
  ),
  ...Object.entries(binary).flatMap(([name, build]) =>
    pairs.map((s): Case => ({ name, shapes: s, build: build as Build, range: [0.4, 2] })),
  ),
  {
    name: "where",
    shapes: [[2, 3], [3]],
    build: (x, y) => where(greater(x as Tensor, 0), mul(x as Tensor, x as Tensor), y as Tensor),
  },
  { name: "cast", shapes: [[4]], build: (x) => mul(cast(greater(x as Tensor, 0)), x as Tensor) },
  { name: "clip", shapes: [[7]], build: (x) => clip(x as Tensor, -0.5, 0.5) },
  { name: "sum of everything", shapes: [[2, 3]], build: (x) => graph.sum(x as Tensor) },
  { name: "sum along an axis", shapes: [[2, 3, 4]], build: (x) => graph.sum(x as Tensor, 1) },
  {
    name: "sum along two, kept",
    shapes: [[2, 3, 4]],
    build: (x) => graph.sum(x as Tensor, [0, -1], true),
  },
  { name: "sum of a scalar", shapes: [[]], build: (x) => graph.sum(x as Tensor) },
  { name: "mean", shapes: [[3, 5]], build: (x) => graph.mean(x as Tensor, -1, true) },
  { name: "max", shapes: [[3, 5]], build: (x) => graph.max(x as Tensor, -1) },
  { name: "max of everything", shapes: [[3, 2]], build: (x) => graph.max(x as Tensor) },
  { name: "reshape", shapes: [[2, 6]], build: (x) => graph.reshape(x as Tensor, [3, -1]) },
  { name: "transpose", shapes: [[2, 3, 4]], build: (x) => graph.transpose(x as Tensor) },
  {
    name: "transpose by order",
    shapes: [[2, 3, 4]],
    build: (x) => graph.transpose(x as Tensor, [2, 0, 1]),
  },
  {
    name: "transpose of transpose",
    shapes: [[2, 3, 4]],
    build: (x) => graph.transpose(graph.transpose(x as Tensor, [1, 2, 0]), [2, 0, 1]),
  },
  {
    name: "transpose of transpose, to another order",
    shapes: [[2, 3, 4]],
    build: (x) => graph.transpose(graph.transpose(x as Tensor, [1, 2, 0]), [0, 2, 1]),
  },
  { name: "silu, far out", shapes: [[4]], build: (x) => graph.silu(x as Tensor), range: [-30, 30] },
  {
    name: "square of what was expanded",
    shapes: [[2, 1]],
    build: (x) => mul(graph.square(graph.expand(x as Tensor, [2, 3])), x as Tensor),
  },
  { name: "expand", shapes: [[2, 1]], build: (x) => graph.expand(x as Tensor, [3, 2, 4]) },
  { name: "slice", shapes: [[4, 5]], build: (x) => graph.slice(x as Tensor, -1, 1, 4) },
  { name: "slice to the end", shapes: [[4, 2]], build: (x) => graph.slice(x as Tensor, 0, 2, 4) },
  {
    name: "concat",
    shapes: [
      [2, 3],
      [2, 1],
      [2, 2],
    ],
    build: (...parts) => graph.concat(parts, 1),
  },
  {
    name: "concat of many",
    shapes: Array.from({ length: 30 }, (): Shape => [2]),
    build: (...parts) => graph.concat(parts, 0),
  },
  {
    name: "matmul",
    shapes: [
      [3, 4],
      [4, 2],
    ],
    build: (a, b) => graph.matmul(a as Tensor, b as Tensor),
  },
  {
    name: "matmul of stacks",
    shapes: [
      [2, 3, 4],
      [2, 4, 2],
    ],
    build: (a, b) => graph.matmul(a as Tensor, b as Tensor),
  },
  {
    name: "matmul, stack by matrix",
    shapes: [
      [2, 5, 3, 4],
      [4, 2],
    ],
    build: (a, b) => graph.matmul(a as Tensor, b as Tensor),
  },
  {
    name: "matmul, broadcast stacks",
    shapes: [
      [2, 1, 3, 4],
      [5, 4, 2],
    ],
    build: (a, b) => graph.matmul(a as Tensor, b as Tensor),
  },
  {
    name: "matmul, transposed",
    shapes: [
      [2, 3, 4],
      [2, 5, 4],
    ],
    build: (a, b) => graph.matmul(a as Tensor, graph.transpose(b as Tensor)),
  },
  {
    name: "matmul, transposed twice",
    shapes: [
      [2, 3, 4],
      [2, 4, 5],
    ],
    build: (a, b) => graph.matmul(a as Tensor, graph.transpose(graph.transpose(b as Tensor))),
  },
  {
    name: "matmul, stack by transposed matrix",
    shapes: [
      [2, 5, 3, 4],
      [6, 4],
    ],
    build: (a, b) => graph.matmul(a as Tensor, graph.transpose(b as Tensor)),
  },
  {
    name: "matmul, transposed and broadcast",
    shapes: [
      [2, 3, 3, 4],
      [2, 1, 5, 4],
    ],
    build: (a, b) => graph.matmul(a as Tensor, graph.transpose(b as Tensor)),
  },
  {
    name: "matmul, both transposed",
    shapes: [
      [4, 3],
      [5, 4],
    ],
    build: (a, b) => graph.matmul(graph.transpose(a as Tensor), graph.transpose(b as Tensor)),
  },
  {
    name: "matmul, of other axes in another order",
    shapes: [
      [2, 3, 4],
      [5, 2, 4],
    ],
    build: (a, b) => graph.matmul(a as Tensor, graph.transpose(b as Tensor, [1, 2, 0])),
  },
  { name: "softmax", shapes: [[3, 5]], build: (x) => graph.softmaxOf(x as Tensor) },
  {
    name: "attention",
    shapes: [
      [3, 5],
      [5, 2],
    ],
    build: (scores, values) => graph.attention(scores as Tensor, values as Tensor),
  },
  {
    name: "attention, of heads that share their values",
    shapes: [
      [2, 3, 2, 4, 5],
      [2, 3, 1, 5, 2],
    ],
    build: (scores, values) => graph.attention(scores as Tensor, values as Tensor),
  },
  { name: "logSoftmax", shapes: [[2, 3, 5]], build: (x) => graph.logSoftmax(x as Tensor) },
  {
    name: "rmsNorm",
    shapes: [[2, 3, 4], [4]],
    build: (x, weight) => graph.rmsNorm(x as Tensor, weight as Tensor, 1e-5),
  },
  {
    name: "rmsNorm, of heads",
    shapes: [[1, 2, 2, 6], [6]],
    build: (x, weight) => graph.rmsNorm(x as Tensor, weight as Tensor, 0.1),
  },
  {
    name: "rotate, two heads, at any positions",
    shapes: [[2, 3, 8]],
    build: (x) => rotated(x as Tensor, [0, 1, 2, 5, 0, 3]),
  },
  {
    name: "rotate, one token",
    shapes: [[3, 1, 12]],
    build: (x) => rotated(x as Tensor, [4, 4, 1]),
  },
  {
    name: "gather, with repeats",
    shapes: [[5, 3]],
    build: (x) => graph.gather(x as Tensor, indices([4, 0, 4, 2], [2, 2])),
  },
  {
    name: "take, all of them in another order",
    shapes: [[4, 3]],
    build: (x) => graph.take(x as Tensor, indices([2, 0, 3, 1], [4]), indices([1, 3, 0, 2], [4])),
  },
  {
    // The last place is the one to spare: the way back of what is left out, and nothing depends on it.
    name: "take, but for one",
    shapes: [[4]],
    build: (x) => {
      const back = indices([1, 3, 0, 2], [4]);
      return graph.slice(graph.take(x as Tensor, indices([2, 0, 3, 0], [4]), back), 0, 0, 3);
    },
  },
  {
    name: "scatterAdd",
    shapes: [[4, 3]],
    build: (x) => graph.scatterAdd([5, 3], indices([4, 0, 4, 2], [4]), x as Tensor),
  },
  {
    name: "pick",
    shapes: [[2, 3, 5]],
    build: (x) => graph.pick(x as Tensor, indices([4, 0, 4, 2, 1, 3], [2, 3])),
  },
  {
    name: "stopGradient",
    shapes: [[3]],
    build: (x) => mul(x as Tensor, graph.stopGradient(graph.exp(x as Tensor))),
  },
];

/** By tables that are no circle, so that a sine in the place of a cosine shows. */
function rotated(x: Tensor, positions: readonly number[]): Tensor {
  const table = (shift: number) =>
    constant(
      Array.from({ length: 12 }, (_, i) => Math.sin(i + shift)),
      [6, 2],
    );
  return graph.rotate(x, indices(positions, x.shape.slice(0, 2)), table(0.3), table(2));
}

/** A loss that weighs every element differently, so that a misplaced gradient shows. */
function lossOf(y: Tensor, seed: string): Tensor {
  const rng = rngAt(seed, "weights");
  const weights = Array.from({ length: y.size }, () => 2 * rng.next() - 1);
  return graph.sum(mul(y, constant(weights, y.shape)));
}

describe.each(CASES)(
  "$name $shapes",
  ({ name, shapes: sizes, build, range: [low, high] = [-2, 2] }) => {
    const seed = `${name} ${JSON.stringify(sizes)}`;
    const inputs: Tensor[] = sizes.map((shape, i) => input(`x${i}`, shape));
    const rng = rngAt(seed);
    const feeds = new Map(
      inputs.map(
        (x) =>
          [
            x,
            Float64Array.from({ length: x.size }, () =>
              Math.fround(low + (high - low) * rng.next()),
            ),
          ] as const,
      ),
    );
    const y = build(...inputs);
    const loss = lossOf(y, seed);
    const slopes = gradients(loss, inputs);

    test("gradient", () => {
      // Through stopGradient the function that is differentiated is not the one that is computed.
      if (name === "stopGradient") return;
      const computed = interpret(slopes, feeds);
      for (const [i, x] of inputs.entries()) {
        const measured = differences(loss, x, feeds);
        const found = computed[i]?.data ?? [];
        for (const [k, slope] of measured.entries()) expect(found[k]).toBeCloseTo(slope, 6);
      }
    });

    test("ONNX Runtime agrees on the values and on the gradients", async () => {
      const results = {
        y,
        loss,
        ...Object.fromEntries(slopes.map((slope, i) => [`g${i}`, slope])),
      };
      const session = await Session.create(results);
      const fed = Object.fromEntries(
        session.inputs.map(({ name: n }) => [
          n,
          Float32Array.from(feeds.get(inputs[Number(n.slice(1))] as Tensor) ?? []),
        ]),
      );
      const run = await session.run(fed);
      await session.close();
      for (const [key, tensor] of Object.entries(results)) {
        const [right] = interpret([tensor], feeds);
        expect(run[key]).toHaveLength(tensor.size);
        for (const [k, value] of (right?.data ?? []).entries()) {
          expect(Math.abs(Number(run[key]?.[k]) - value)).toBeLessThan(
            2e-5 * (1 + Math.abs(value)),
          );
        }
      }
    });
  },
);

test("a file for any runtime computes the same without ops that only one has", async () => {
  const [x, weight] = [input("x", [2, 3, 8]), input("w", [8])];
  const y = rotated(graph.rmsNorm(x, weight, 1e-5), [0, 1, 2, 5, 0, 3]);
  const [slope] = gradients(lossOf(y, "plain"), [x]) as [Tensor];
  const { bytes } = graph.toOnnx({ y, slope }, { standard: true });
  const text = Buffer.from(bytes).toString("latin1");
  expect(text).not.toMatch(/com\.microsoft|SimplifiedLayerNormalization|RotaryEmbedding/);
  const fed = { x: Array.from({ length: 48 }, (_, i) => Math.sin(i)), w: [1, 2, 3, 4, 5, 6, 7, 8] };
  const runtime = await graph.loadRuntime();
  const session = await runtime.InferenceSession.create(bytes, {});
  const run = await session.run({
    x: new runtime.Tensor("float32", Float32Array.from(fed.x), x.shape),
    w: new runtime.Tensor("float32", Float32Array.from(fed.w), [8]),
  });
  await session.release();
  const feeds = new Map<Tensor, readonly number[]>([
    [x, fed.x],
    [weight, fed.w],
  ]);
  for (const [name, tensor] of Object.entries({ y, slope })) {
    for (const [i, value] of (interpret([tensor], feeds)[0]?.data ?? []).entries()) {
      expect(Number((run[name]?.data as Float32Array | undefined)?.[i])).toBeCloseTo(value, 4);
    }
  }
});

test("no gradient flows through stopGradient", () => {
  const x = input("x", [2]);
  const [slope] = gradients(graph.sum(mul(x, graph.stopGradient(x))), [x]);
  expect([...(interpret([slope as Tensor], new Map([[x, [3, 5]]]))[0]?.data ?? [])]).toEqual([
    3, 5,
  ]);
});

test("two transposes become one, and none where they cancel", () => {
  const x = input("x", [2, 3, 4]);
  expect(graph.transpose(graph.transpose(x))).toBe(x);
  expect(graph.transpose(graph.transpose(x, [1, 2, 0]), [2, 0, 1])).toBe(x);
  const once = graph.transpose(graph.transpose(x, [1, 2, 0]), [0, 2, 1]);
  expect(once.shape).toEqual([3, 2, 4]);
  expect(graph.inOrder([once])).toHaveLength(2);
});

test("the gradient of a weight that is used transposed needs no transpose of its own size", () => {
  const [a, w] = [input("a", [2, 3, 4]), input("w", [5, 4])];
  const loss = graph.sum(graph.square(graph.matmul(a, graph.transpose(w))));
  const [slope] = gradients(loss, [w]);
  // Straight out of the product: rows of outputs by inputs, as the weight is stored.
  expect(slope?.op.name).toBe("MatMul");
  expect(slope?.shape).toEqual([5, 4]);
});

test("shape errors name the op and both shapes", () => {
  const [a, b] = [input("a", [2, 3]), input("b", [4, 3])];
  expect(() => add(a, b)).toThrow(/Add: .*\[2, 3\] and \[4, 3\]/);
  expect(() => graph.matmul(a, b)).toThrow(/MatMul: .*\[2, 3\] and \[4, 3\]/);
  expect(() => graph.reshape(a, [5])).toThrow(/Reshape.*\[2, 3\]/);
  expect(() => graph.slice(a, 1, 2, 9)).toThrow(/Slice: 2 to 9.*\[2, 3\]/);
  expect(() => graph.concat([a, input("c", [2, 3, 1])], 0)).toThrow(/Concat/);
  expect(() => gradients(a, [a])).toThrow(/single number.*\[2, 3\]/);
  expect(() => graph.pick(a, a)).toThrow(/Pick/);
  expect(() => graph.rmsNorm(a, input("w", [2]), 1)).toThrow(/RmsNorm: .*\[2, 3\] and \[2\]/);
  expect(() => rotated(a, [0, 1, 2, 3, 4, 5])).toThrow(/RotaryEmbedding: .*\[2, 3\]/);
});

test("what is repeated is computed once, and what nobody needs is not computed", () => {
  const x = input("x", [2]);
  const twice = add(graph.exp(x), graph.exp(x));
  graph.log(x);
  const [kept] = graph.withoutRepetition([twice]);
  expect(graph.inOrder([twice])).toHaveLength(4);
  expect(graph.inOrder([kept as Tensor])).toHaveLength(3);
});
