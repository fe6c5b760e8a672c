/** More threads, the same bytes: what is shared among them is chosen so that sums stay as they are. */

import { describe, expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import { toOnnx } from "./onnx.ts";
import { transpose } from "./ops/layout.ts";
import { matmul } from "./ops/product.ts";
import { loadRuntime, Session } from "./session.ts";
import { input, type Tensor } from "./tensor.ts";
import { sameBytesThreads } from "./threads.ts";

/** Rows, columns, terms of a product. */
type Sizes = readonly [rows: number, columns: number, terms: number];

const plain = ([rows, columns, terms]: Sizes) =>
  matmul(input("a", [rows, terms]), transpose(input("b", [columns, terms])));
const turned = ([rows, columns, terms]: Sizes) =>
  matmul(transpose(input("a", [terms, rows])), input("b", [terms, columns]));

function feedsOf([rows, columns, terms]: Sizes) {
  const rng = rngAt("threads", rows, columns, terms);
  const numbers = (size: number) => Float32Array.from({ length: size }, () => rng.next() - 0.5);
  return { a: numbers(rows * terms), b: numbers(columns * terms) };
}

/** The runtime itself, with just as many threads as it is told. */
async function bytesWith(threads: number, product: Tensor, sizes: Sizes): Promise<Float32Array> {
  const { InferenceSession, Tensor: RuntimeTensor } = await loadRuntime();
  const session = await InferenceSession.create(toOnnx({ product }).bytes, {
    intraOpNumThreads: threads,
    graphOptimizationLevel: "all",
  });
  const { a, b } = feedsOf(sizes);
  const [left, right] = product.inputs;
  const shape = ({ inputs: [inner], shape: own }: Tensor) => [...(inner?.shape ?? own)];
  const run = await session.run({
    a: new RuntimeTensor("float32", a, shape(left)),
    b: new RuntimeTensor("float32", b, shape(right)),
  });
  await session.release();
  return run.product?.data as Float32Array;
}

describe("what may be shared gives the bytes of one thread", () => {
  const sizes: readonly Sizes[] = [
    [64, 128, 2048],
    [64, 168, 3072],
    [2, 128, 344],
    [2048, 1, 128],
    [128, 1, 2048],
    [100, 1, 4096],
    [5, 400, 300],
    [3, 64, 4096],
    [300, 64, 512],
    [1, 256, 2048],
  ];
  test.each(sizes)("%i rows, %i columns, %i terms", async (...one) => {
    for (const product of [plain(one), turned(one)]) {
      const alone = await bytesWith(1, product, one);
      for (const asked of [2, 3, 4, 8]) {
        const threads = sameBytesThreads([product], asked);
        expect(await bytesWith(threads, product, one), `${threads} of ${asked}`).toEqual(alone);
      }
    }
  });
});

test("as many as possible, and fewer where sums would change", () => {
  const [head, down]: [Sizes, Sizes] = [
    [64, 128, 2048],
    [2, 128, 344],
  ];
  expect(sameBytesThreads([turned(head)], 8)).toBe(8);
  const none = matmul(input("a", [0, 3, 4]), input("b", [0, 4, 1]));
  expect(sameBytesThreads([none], 8)).toBe(8);
  expect(sameBytesThreads([plain(head)], 0)).toBe(0); // The runtime's own choice.
  expect(sameBytesThreads([plain(head)], 2)).toBe(1);
  expect(sameBytesThreads([turned(head), plain(down)], 2)).toBe(1);
});

test.runIf(process.arch === "x64")("the runtime itself does round differently", async () => {
  // When it no longer does, all of this can go.
  const sizes: Sizes = [64, 128, 2048];
  const [one, two] = [
    await bytesWith(1, plain(sizes), sizes),
    await bytesWith(2, plain(sizes), sizes),
  ];
  expect(two).not.toEqual(one);
});

test("a session uses no more than that", async () => {
  const sizes: Sizes = [64, 128, 2048];
  const [one, two] = await Promise.all(
    [1, 2].map(async (threads) => {
      const session = await Session.create({ product: plain(sizes) }, { threads });
      const { product } = await session.run(feedsOf(sizes));
      await session.close();
      return product;
    }),
  );
  expect(two).toEqual(one);
});
