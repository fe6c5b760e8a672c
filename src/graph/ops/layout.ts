/** The same values in another shape or order. */

import {
  axisOf,
  broadcast,
  type Shape,
  sameShape,
  shapeError,
  showShape,
  sizeOf,
  stridesOf,
  walker,
} from "../shape.ts";
import { constant, type Op, Tensor } from "../tensor.ts";

const RESHAPE: Op<{ readonly to: Shape }> = {
  name: "Reshape",
  infer: ([{ shape, dtype }], { to }) => {
    if (sizeOf(shape) !== sizeOf(to)) throw shapeError("Reshape", "the sizes differ", shape, to);
    return { shape: to, dtype };
  },
  evaluate: ([x]) => x.data,
  gradient: ({ inputs }, outer) => [reshape(outer, inputs[0].shape)],
  emit: ({ attributes }, emitter, inputs) =>
    emitter.node("Reshape", [...inputs, emitter.integers(attributes.to)], { allowzero: 1 }),
};

/** One size may be -1: what is left. */
export function reshape(x: Tensor, to: Shape): Tensor {
  const known = to.reduce((product, n) => (n === -1 ? product : product * n), 1);
  const shape = to.map((n) => (n === -1 ? x.size / known : n));
  if (shape.some((n) => !Number.isInteger(n))) {
    throw shapeError("Reshape", `${showShape(to)} does not divide`, x.shape);
  }
  if (sameShape(shape, x.shape)) return x;
  const inner = x.op === RESHAPE ? x.inputs[0] : x;
  return sameShape(shape, inner.shape) ? inner : new Tensor(RESHAPE, [inner], { to: shape });
}

const TRANSPOSE: Op<{ readonly order: readonly number[] }> = {
  name: "Transpose",
  infer: ([{ shape, dtype }], { order }) => {
    if (
      [...order].sort((a, b) => a - b).some((axis, i) => axis !== i) ||
      order.length !== shape.length
    ) {
      throw shapeError("Transpose", `[${order}] is not a permutation of its axes`, shape);
    }
    return { shape: order.map((axis) => shape[axis] as number), dtype };
  },
  evaluate: ([{ data, shape: from }], { order }, { shape }) => {
    const [inner, outer] = [stridesOf(from), stridesOf(shape)];
    return data.map((_, i) => {
      let at = 0;
      for (const [k, axis] of order.entries()) {
        at +=
          (Math.floor(i / (outer[k] as number)) % (shape[k] as number)) * (inner[axis] as number);
      }
      return data[at] as number;
    });
  },
  gradient: ({ attributes: { order } }, outer) => {
    const back = order.map((_, i) => order.indexOf(i));
    return [transpose(outer, back)];
  },
  emit: ({ attributes }, emitter, inputs) =>
    emitter.node("Transpose", inputs, { perm: attributes.order }),
};

/** Axes in another order; without one, the last two change places. */
export function transpose(x: Tensor, order?: readonly number[]): Tensor {
  const last = x.shape.length - 1;
  const axes = order ?? x.shape.map((_, i) => (i < last - 1 ? i : i === last ? last - 1 : last));
  if (x.op === TRANSPOSE) {
    const { order: first } = x.attributes as { order: readonly number[] };
    const both = axes.map((axis) => first[axis] as number);
    return transpose(x.inputs[0], both);
  }
  if (axes.every((axis, i) => axis === i)) return x;
  return new Tensor(TRANSPOSE, [x], { order: axes });
}

/** Whether this is another tensor with its last two axes changed. */
export function isTransposed({ op, attributes, shape }: Tensor): boolean {
  if (op !== TRANSPOSE) return false;
  const { order } = attributes as { order: readonly number[] };
  const last = shape.length - 1;
  return order.every((axis, i) => axis === (i < last - 1 ? i : 2 * last - 1 - i));
}

const EXPAND: Op<{ readonly to: Shape }> = {
  name: "Expand",
  infer: ([{ shape, dtype }], { to }) => {
    if (!sameShape(broadcast("Expand", shape, to), to)) {
      throw shapeError("Expand", "the shape does not broadcast to the other", shape, to);
    }
    return { shape: to, dtype };
  },
  evaluate: ([x], { to }) => {
    const at = walker(x, to);
    return Float64Array.from({ length: sizeOf(to) }, (_, i) => x.data[at(i)] as number);
  },
  gradient: (_, outer) => [outer],
  emit: ({ attributes }, emitter, inputs) =>
    emitter.node("Expand", [...inputs, emitter.integers(attributes.to)]),
};

export function expand(x: Tensor, to: Shape): Tensor {
  return sameShape(x.shape, to) ? x : new Tensor(EXPAND, [x], { to });
}

/** What was expanded, or the tensor itself. */
export function unexpanded(x: Tensor): Tensor {
  return x.op === EXPAND ? x.inputs[0] : x;
}

interface Range {
  readonly axis: number;
  readonly start: number;
  readonly end: number;
}

const SLICE: Op<Range> = {
  name: "Slice",
  infer: ([{ shape, dtype }], { axis, start, end }) => {
    const n = shape[axisOf("Slice", axis, shape)] as number;
    if (!(start >= 0 && start <= end && end <= n)) {
      throw shapeError("Slice", `${start} to ${end} is not within axis ${axis}`, shape);
    }
    return { shape: shape.map((m, i) => (i === axis ? end - start : m)), dtype };
  },
  evaluate: ([{ data, shape: from }], { axis, start }, { shape }) => {
    const [inner, outer] = [stridesOf(from), stridesOf(shape)];
    return Float64Array.from({ length: sizeOf(shape) }, (_, i) => {
      let at = start * (inner[axis] as number);
      for (const [k, n] of shape.entries()) {
        at += (Math.floor(i / (outer[k] as number)) % n) * (inner[k] as number);
      }
      return data[at] as number;
    });
  },
  gradient: ({ inputs, attributes: { axis, start, end } }, outer) => {
    const { shape } = inputs[0];
    const gap = (n: number) => zeros(shape.map((m, i) => (i === axis ? n : m)));
    const parts = [gap(start), outer, gap((shape[axis] as number) - end)];
    const filled = parts.filter(({ size }) => size > 0);
    return [concat(filled, axis)];
  },
  emit: ({ attributes: { axis, start, end } }, emitter, inputs) =>
    emitter.node("Slice", [...inputs, ...[start, end, axis].map((n) => emitter.integers([n]))]),
};

export function slice(x: Tensor, axis: number, start: number, end: number): Tensor {
  const found = axisOf("Slice", axis, x.shape);
  if (start === 0 && end === x.shape[found]) return x;
  return new Tensor(SLICE, [x], { axis: found, start, end });
}

const CONCAT: Op<{ readonly axis: number }> = {
  name: "Concat",
  infer: (inputs, { axis }) => {
    const [first] = inputs;
    for (const { shape } of inputs) {
      const fits =
        shape.length === first.shape.length &&
        shape.every((n, i) => i === axis || n === first.shape[i]);
      const problem = `they differ elsewhere than in axis ${axis}`;
      if (!fits) throw shapeError("Concat", problem, first.shape, shape);
    }
    const total = inputs.reduce((sum, { shape }) => sum + (shape[axis] as number), 0);
    return { shape: first.shape.map((n, i) => (i === axis ? total : n)), dtype: first.dtype };
  },
  evaluate: (inputs, { axis }, { shape }) => {
    const out = new Float64Array(sizeOf(shape));
    const outer = sizeOf(shape.slice(0, axis));
    let at = 0;
    for (let block = 0; block < outer; block++) {
      for (const { data } of inputs) {
        const length = data.length / outer;
        out.set(data.subarray(block * length, (block + 1) * length), at);
        at += length;
      }
    }
    return out;
  },
  gradient: ({ inputs, attributes: { axis } }, outer) => {
    let end = 0;
    return inputs.map(({ shape }) => {
      const start = end;
      end += shape[axis] as number;
      return slice(outer, axis, start, end);
    });
  },
  emit: ({ attributes }, emitter, inputs) =>
    emitter.node("Concat", inputs, { axis: attributes.axis }),
};

/** WebGPU binds few buffers to a shader, so a long list is joined in steps. */
const MOST_PARTS = 12;

export function concat(parts: readonly Tensor[], axis: number): Tensor {
  const [first] = parts;
  if (!first) throw shapeError("Concat", "no tensors given");
  if (parts.length === 1) return first;
  const found = axisOf("Concat", axis, first.shape);
  if (parts.length <= MOST_PARTS) return new Tensor(CONCAT, parts, { axis: found });
  const groups: Tensor[] = [];
  for (let i = 0; i < parts.length; i += MOST_PARTS) {
    groups.push(concat(parts.slice(i, i + MOST_PARTS), found));
  }
  return concat(groups, found);
}

export function zeros(shape: Shape): Tensor {
  return expand(constant([0], []), shape);
}
