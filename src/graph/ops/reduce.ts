/** Sums, means and maxima along axes. */

import { axisOf, type Shape, sameShape, shapeError, sizeOf, walker } from "../shape.ts";
import { type Emitter, type Inputs, type Op, Tensor } from "../tensor.ts";
import { cast, div, equal, mul } from "./elementwise.ts";
import { expand, reshape } from "./layout.ts";

interface Axes {
  readonly axes: readonly number[];
  readonly keep: boolean;
}

function reducedShape(name: string, { shape }: Tensor, { axes, keep }: Axes): number[] {
  const gone = new Set(axes.map((axis) => axisOf(name, axis, shape)));
  if (gone.size !== axes.length) throw shapeError(name, `the axes [${axes}] repeat`, shape);
  return shape.flatMap((n, i) => (gone.has(i) ? (keep ? [1] : []) : [n]));
}

/** The shape with reduced axes kept as 1, which broadcasts back to the input. */
function keptShape(shape: Shape, axes: readonly number[]): number[] {
  return shape.map((n, i) => (axes.includes(i) ? 1 : n));
}

function reduction(
  name: string,
  start: number,
  join: (a: number, b: number) => number,
  gradient: Op<Axes>["gradient"],
): Op<Axes> {
  return {
    name,
    infer: ([x], axes) => ({ shape: reducedShape(name, x, axes), dtype: "f32" }),
    evaluate: ([{ shape, data }], { axes }) => {
      const kept = keptShape(shape, axes);
      const out = new Float64Array(sizeOf(kept)).fill(start);
      const at = walker({ shape: kept }, shape);
      data.forEach((value, i) => {
        out[at(i)] = join(out[at(i)] as number, value);
      });
      return out;
    },
    ...(gradient && { gradient }),
    emit: ({ inputs: [x], attributes, shape }, emitter, inputs) =>
      (name === "ReduceSum" && byProduct(x, attributes.axes, shape, emitter, inputs)) ||
      emitter.node(name, [...inputs, emitter.integers(attributes.axes)], {
        keepdims: Number(attributes.keep),
      }),
  };
}

/**
 * A sum over leading axes as a product with ones. The runtime's own reduction splits such a sum by the
 * number of threads, and with it the rounding; a product does not, and is faster.
 */
function byProduct(
  { shape: from }: Tensor,
  axes: readonly number[],
  to: Shape,
  emitter: Emitter,
  [x]: Inputs<string>,
): string | undefined {
  const sorted = axes.toSorted((a, b) => a - b);
  if (sorted.some((axis, i) => axis !== i)) return undefined;
  const rows = sizeOf(from.slice(0, axes.length));
  const flat = emitter.node("Reshape", [x, emitter.integers([rows, sizeOf(from) / rows])]);
  const one = emitter.constant("f32", [1], []);
  const ones = emitter.node("Expand", [one, emitter.integers([1, rows])]);
  return emitter.node("Reshape", [emitter.node("MatMul", [ones, flat]), emitter.integers(to)]);
}

const SUM = reduction(
  "ReduceSum",
  0,
  (a, b) => a + b,
  ({ inputs: [{ shape }], attributes }, outer) => [
    expand(reshape(outer, keptShape(shape, attributes.axes)), shape),
  ],
);

/** Of equal maxima each gets its share of the gradient. */
const MAX = reduction("ReduceMax", Number.NEGATIVE_INFINITY, Math.max, (node, outer) => {
  const [x] = node.inputs;
  const kept = keptShape(x.shape, node.attributes.axes);
  const winners = cast(equal(x, reshape(node, kept)));
  const shares = div(winners, sum(winners, node.attributes.axes, true));
  return [mul(shares, reshape(outer, kept))];
});

function allAxes(x: Tensor, axes: readonly number[] | number | undefined, name: string): number[] {
  const wanted = axes === undefined ? x.shape.map((_, i) => i) : [axes].flat();
  return wanted.map((axis) => axisOf(name, axis, x.shape));
}

export function sum(x: Tensor, axes?: readonly number[] | number, keep = false): Tensor {
  const found = allAxes(x, axes, "ReduceSum");
  return found.length === 0 ? x : new Tensor(SUM, [x], { axes: found, keep });
}

export function max(x: Tensor, axes?: readonly number[] | number, keep = false): Tensor {
  const found = allAxes(x, axes, "ReduceMax");
  return found.length === 0 ? x : new Tensor(MAX, [x], { axes: found, keep });
}

export function mean(x: Tensor, axes?: readonly number[] | number, keep = false): Tensor {
  const found = allAxes(x, axes, "mean");
  const count = found.reduce((product, axis) => product * (x.shape[axis] as number), 1);
  return mul(sum(x, found, keep), 1 / count);
}

/** Undoes broadcasting: sums over what was repeated. */
export function sumTo(x: Tensor, shape: Shape): Tensor {
  if (sameShape(x.shape, shape)) return x;
  const shift = x.shape.length - shape.length;
  if (shift < 0 || x.size < sizeOf(shape)) return expand(x, shape);
  const axes = x.shape.flatMap((n, i) =>
    i < shift || (shape[i - shift] === 1 && n > 1) ? [i] : [],
  );
  return reshape(sum(x, axes, true), shape);
}
