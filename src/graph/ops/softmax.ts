/** Softmax along the last axis, without overflow; its logarithm; and attention, its use with values. */

import { type Op, Tensor } from "../tensor.ts";
import { exp, mul, sub } from "./elementwise.ts";
import { transpose } from "./layout.ts";
import { MATMUL, matmul } from "./product.ts";
import { sum } from "./reduce.ts";

function rowWise(
  type: string,
  compute: (row: Float64Array) => Float64Array,
  gradient: NonNullable<Op<null>["gradient"]>,
): Op<null> {
  return {
    name: type,
    infer: ([x]) => ({ shape: x.shape, dtype: "f32" }),
    evaluate: ([{ shape, data }]) => {
      const width = shape.at(-1) as number;
      const out = new Float64Array(data.length);
      for (let at = 0; at < data.length; at += width) {
        out.set(compute(data.subarray(at, at + width)), at);
      }
      return out;
    },
    gradient,
    emit: (_, emitter, inputs) => emitter.node(type, inputs, { axis: -1 }),
  };
}

const LOG_SOFTMAX = rowWise(
  "LogSoftmax",
  (row) => {
    const top = row.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    const total = Math.log(row.reduce((sum, x) => sum + Math.exp(x - top), 0));
    return row.map((x) => x - top - total);
  },
  (node, outer) => [sub(outer, mul(exp(node), sum(outer, -1, true)))],
);

const SOFTMAX = rowWise(
  "Softmax",
  (row) => {
    const top = row.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    const weights = row.map((x) => Math.exp(x - top));
    const total = weights.reduce((sum, x) => sum + x, 0);
    return weights.map((x) => x / total);
  },
  (node, outer) => {
    const weighted = mul(outer, node);
    return [sub(weighted, mul(node, sum(weighted, -1, true)))];
  },
);

export function logSoftmax(x: Tensor): Tensor {
  return new Tensor(LOG_SOFTMAX, [x], null);
}

export function softmaxOf(x: Tensor): Tensor {
  return new Tensor(SOFTMAX, [x], null);
}

/** The inputs are the weights, the values, and the scores that the weights are the softmax of. */
const ATTENTION: Op<null> = {
  ...MATMUL,
  gradient: (node, outer) => {
    const [weights, values] = node.inputs;
    // The sum over a row of weights times their gradients is that over a head: it is much shorter.
    const total = sum(mul(outer, node), -1, true);
    const scores = mul(weights, sub(matmul(outer, transpose(values)), total));
    // The other way round it would read the weights by columns, which takes three times as long.
    return [undefined, transpose(matmul(transpose(outer), weights)), scores];
  },
  emit: (_, emitter, [weights, values]) => emitter.node("MatMul", [weights, values]),
};

/** softmax(scores) · values, with a gradient that passes over the scores half as often. */
export function attention(scores: Tensor, values: Tensor): Tensor {
  return new Tensor(ATTENTION, [softmaxOf(scores), values, scores], null);
}
