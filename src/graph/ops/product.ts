/** The matrix product, batched and broadcast. */

import { broadcast, type Shape, shapeError, sizeOf, stridesOf } from "../shape.ts";
import { type Inputs, type Op, Tensor, type Values } from "../tensor.ts";
import { isTransposed, reshape, transpose } from "./layout.ts";

export const MATMUL: Op<null> = {
  name: "MatMul",
  infer: ([a, b]) => {
    const fits = a.shape.length >= 2 && b.shape.length >= 2 && a.shape.at(-1) === b.shape.at(-2);
    if (!fits) throw shapeError("MatMul", "the inner sizes differ", a.shape, b.shape);
    const batch = broadcast("MatMul", a.shape.slice(0, -2), b.shape.slice(0, -2));
    return { shape: [...batch, a.shape.at(-2) as number, b.shape.at(-1) as number], dtype: "f32" };
  },
  evaluate: (inputs, _, { shape }) => multiply(inputs, shape),
  gradient: ({ inputs: [a, b] }, outer) => {
    // One product over all rows in place of many and a sum.
    const flat = b.shape.length === 2 && a.shape.length > 2;
    const [left, right] = flat ? [rows(a), rows(outer)] : [a, outer];
    return [
      matmul(outer, transpose(b)),
      isTransposed(b)
        ? // Made the other way round, its transpose cancels with that of b.
          transpose(matmul(transpose(right), left))
        : matmul(transpose(left), right),
    ];
  },
  emit: (_, emitter, inputs) => emitter.node("MatMul", inputs),
};

function rows(x: Tensor): Tensor {
  return reshape(x, [-1, x.shape.at(-1) as number]);
}

export function matmul(a: Tensor, b: Tensor): Tensor {
  return new Tensor(MATMUL, [a, b], null);
}

function multiply([a, b]: Inputs<Values>, shape: Shape): Float64Array {
  const [n, m] = shape.slice(-2) as [number, number];
  const k = a.shape.at(-1) as number;
  const batch = shape.slice(0, -2);
  const [at, bt] = [batchOffset(a.shape, batch), batchOffset(b.shape, batch)];
  const out = new Float64Array(sizeOf(shape));
  for (let block = 0; block < sizeOf(batch); block++) {
    const [ao, bo] = [at(block) * n * k, bt(block) * k * m];
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) {
        let sum = 0;
        for (let l = 0; l < k; l++) {
          sum += (a.data[ao + i * k + l] as number) * (b.data[bo + l * m + j] as number);
        }
        out[block * n * m + i * m + j] = sum;
      }
    }
  }
  return out;
}

/** Which matrix of a broadcast stack belongs to a block of the result. */
function batchOffset(shape: Shape, batch: Shape): (block: number) => number {
  const own = shape.slice(0, -2);
  const [inner, outer] = [stridesOf(own), stridesOf(batch)];
  const shift = batch.length - own.length;
  return (block) =>
    own.reduce((at, n, i) => {
      const position =
        Math.floor(block / (outer[i + shift] as number)) % (batch[i + shift] as number);
      return at + (n === 1 ? 0 : position * (inner[i] as number));
    }, 0);
}
