/** Arithmetic on each element, with broadcasting. */

import { broadcast, type Shape, shapeError, sizeOf, walker } from "../shape.ts";
import { type Kind, type Op, scalar, Tensor, type Values } from "../tensor.ts";
import { expand, unexpanded } from "./layout.ts";

/** A function of one number; its derivative is given in terms of the input and the output. */
function unary(
  type: string,
  compute: (x: number) => number,
  slope?: (x: Tensor, y: Tensor) => Tensor,
): (x: Tensor) => Tensor {
  const op: Op<null> = {
    name: type,
    infer: ([x]) => ({ shape: x.shape, dtype: "f32" }),
    evaluate: ([x]) => x.data.map(compute),
    emit: (_, emitter, inputs) => emitter.node(type, inputs),
    ...(slope && {
      gradient: (node: Tensor<null>, outer: Tensor) => [mul(outer, slope(node.inputs[0], node))],
    }),
  };
  return (x) => {
    if (x.dtype !== "f32") throw shapeError(type, `expected numbers, not ${x.dtype}`, x.shape);
    return new Tensor(op, [x], null);
  };
}

/** A function of two numbers, broadcast; `slopes` are the two derivatives. */
function binary(
  type: string,
  compute: (x: number, y: number) => number,
  slopes?: (x: Tensor, y: Tensor, outer: Tensor, node: Tensor) => [Tensor, Tensor],
  dtype: Kind["dtype"] = "f32",
): (x: Tensor | number, y: Tensor | number) => Tensor {
  const op: Op<null> = {
    name: type,
    infer: ([x, y]) => ({ shape: broadcast(type, x.shape, y.shape), dtype }),
    evaluate: (inputs, _, { shape }) => zip(inputs, shape, compute),
    emit: (_, emitter, inputs) => emitter.node(type, inputs),
    ...(slopes && {
      gradient: (node: Tensor<null>, outer: Tensor) =>
        slopes(node.inputs[0], node.inputs[1], outer, node),
    }),
  };
  return (x, y) => {
    const [a, b] = [asTensor(x), asTensor(y)];
    if (a.dtype !== b.dtype) {
      throw shapeError(type, `${a.dtype} and ${b.dtype} do not mix`, a.shape, b.shape);
    }
    // No explicit expand: the op broadcasts by itself.
    const shape = broadcast(type, a.shape, b.shape);
    return expand(new Tensor(op, [unexpanded(a), unexpanded(b)], null), shape);
  };
}

function asTensor(x: Tensor | number): Tensor {
  return typeof x === "number" ? scalar(x) : x;
}

/** Applies a function to broadcast arrays. */
function zip(
  inputs: readonly Values[],
  shape: Shape,
  compute: (...values: number[]) => number,
): Float64Array {
  const reads = inputs.map((x) => {
    const at = walker(x, shape);
    return (i: number) => x.data[at(i)] as number;
  });
  return Float64Array.from({ length: sizeOf(shape) }, (_, i) =>
    compute(...reads.map((read) => read(i))),
  );
}

export const add = binary(
  "Add",
  (x, y) => x + y,
  (_x, _y, outer) => [outer, outer],
);
export const sub = binary(
  "Sub",
  (x, y) => x - y,
  (_x, _y, outer) => [outer, neg(outer)],
);
export const mul = binary(
  "Mul",
  (x, y) => x * y,
  (x, y, outer) => [mul(outer, y), mul(outer, x)],
);
export const div = binary(
  "Div",
  (x, y) => x / y,
  (_x, y, outer, node) => {
    const dx = div(outer, y);
    return [dx, neg(mul(dx, node))];
  },
);
/** In a tie the gradient goes to the first. */
export const maximum = binary("Max", Math.max, (x, y, outer) => {
  const first = greaterOrEqual(x, y);
  return [where(first, outer, 0), where(first, 0, outer)];
});
export const minimum = binary("Min", Math.min, (x, y, outer) => {
  const first = lessOrEqual(x, y);
  return [where(first, outer, 0), where(first, 0, outer)];
});

export const less = binary("Less", (x, y) => Number(x < y), undefined, "bool");
export const lessOrEqual = binary("LessOrEqual", (x, y) => Number(x <= y), undefined, "bool");
export const greater = binary("Greater", (x, y) => Number(x > y), undefined, "bool");
export const greaterOrEqual = binary("GreaterOrEqual", (x, y) => Number(x >= y), undefined, "bool");
export const equal = binary("Equal", (x, y) => Number(x === y), undefined, "bool");

export const neg = unary(
  "Neg",
  (x) => -x,
  () => scalar(-1),
);
export const exp = unary("Exp", Math.exp, (_, y) => y);
export const log = unary("Log", Math.log, (x) => div(1, x));
export const sqrt = unary("Sqrt", Math.sqrt, (_, y) => div(0.5, y));
/** Its own gradient has one product where that of x · x would have two and a sum. */
export function square(x: Tensor): Tensor {
  return new Tensor(SQUARE, [x], null);
}
const SQUARE: Op<null> = {
  name: "Square",
  infer: ([x]) => ({ shape: x.shape, dtype: "f32" }),
  evaluate: ([x]) => x.data.map((value) => value * value),
  gradient: ({ inputs: [x] }, outer) => [mul(mul(outer, 2), x)],
  emit: (_, emitter, [x]) => emitter.node("Mul", [x, x]),
};
export const sigmoid = unary(
  "Sigmoid",
  (x) => 1 / (1 + Math.exp(-x)),
  (_, y) => mul(y, sub(1, y)),
);
/** x · sigmoid(x). Written apart, its gradient would need four products. */
export function silu(x: Tensor): Tensor {
  return new Tensor(SILU, [x, sigmoid(x)], null);
}
const SILU: Op<null> = {
  name: "Silu",
  infer: ([x]) => ({ shape: x.shape, dtype: "f32" }),
  evaluate: ([x, s]) => x.data.map((value, i) => value * (s.data[i] as number)),
  // All of it goes to x, so that none needs to flow through the sigmoid.
  gradient: (y, outer) => [mul(outer, add(y, mul(y.inputs[1], sub(1, y)))), undefined],
  emit: (_, emitter, inputs) => emitter.node("Mul", inputs),
};
/** 0 has slope 0. */
export const abs = unary("Abs", Math.abs, (x) => sub(cast(greater(x, 0)), cast(less(x, 0))));

/** x if it lies between the bounds; the gradient is 0 outside of them. */
export function clip(x: Tensor, low: number, high: number): Tensor {
  return minimum(maximum(x, low), high);
}

const CAST: Op<null> = {
  name: "Cast",
  infer: ([x]) => ({ shape: x.shape, dtype: "f32" }),
  evaluate: ([x]) => Float64Array.from(x.data),
  emit: (_, emitter, inputs) => emitter.node("Cast", inputs, { to: 1 }),
};

/** Integers or booleans as numbers; no gradient. */
export function cast(x: Tensor): Tensor {
  return x.dtype === "f32" ? x : new Tensor(CAST, [x], null);
}

const WHERE: Op<null> = {
  name: "Where",
  infer: ([condition, x, y]) => {
    if (condition.dtype !== "bool") {
      throw shapeError("Where", "the condition must be boolean", condition.shape);
    }
    const shape = broadcast("Where", x.shape, y.shape);
    return { shape: broadcast("Where", condition.shape, shape), dtype: x.dtype };
  },
  evaluate: (inputs, _, { shape }) =>
    zip(inputs, shape, (condition, x, y) => (condition === 1 ? x : y)),
  gradient: ({ inputs: [condition] }, outer) => [
    undefined,
    where(condition, outer, 0),
    where(condition, 0, outer),
  ],
  emit: (_, emitter, inputs) => emitter.node("Where", inputs),
};

export function where(condition: Tensor, x: Tensor | number, y: Tensor | number): Tensor {
  return new Tensor(WHERE, [condition, asTensor(x), asTensor(y)], null);
}

const STOP: Op<null> = {
  name: "StopGradient",
  infer: ([x]) => x,
  evaluate: ([x]) => Float64Array.from(x.data),
  emit: (_, emitter, inputs) => emitter.node("Identity", inputs),
};

/** The same values, through which no gradient flows. */
export function stopGradient(x: Tensor): Tensor {
  return new Tensor(STOP, [x], null);
}
