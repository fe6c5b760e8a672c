/** Reading by index, and the writing by index that is its gradient. */

import { shapeError, sizeOf } from "../shape.ts";
import { type Op, Tensor } from "../tensor.ts";
import { reshape, zeros } from "./layout.ts";

const GATHER: Op<null> = {
  name: "Gather",
  infer: ([table, indices]) => {
    if (indices.dtype !== "i64")
      throw shapeError("Gather", "indices must be integers", indices.shape);
    if (table.shape.length === 0) throw shapeError("Gather", "there are no rows", table.shape);
    return { shape: [...indices.shape, ...table.shape.slice(1)], dtype: table.dtype };
  },
  evaluate: ([table, indices]) => {
    const width = sizeOf(table.shape.slice(1));
    const out = new Float64Array(indices.data.length * width);
    indices.data.forEach((row, i) => {
      out.set(table.data.subarray(row * width, (row + 1) * width), i * width);
    });
    return out;
  },
  gradient: ({ inputs: [table, indices] }, outer) => {
    const width = table.shape.slice(1);
    const flat = reshape(outer, [indices.size, ...width]);
    return [scatterAdd(table.shape, reshape(indices, [indices.size]), flat), undefined];
  },
  emit: (_, emitter, inputs) => emitter.node("Gather", inputs, { axis: 0 }),
};

/** Rows of a table by index: an embedding. */
export function gather(table: Tensor, indices: Tensor): Tensor {
  return new Tensor(GATHER, [table, indices], null);
}

const SCATTER_ADD: Op<null> = {
  name: "ScatterAdd",
  infer: ([start]) => start,
  evaluate: ([start, indices, updates]) => {
    const out = Float64Array.from(start.data);
    const width = sizeOf(start.shape.slice(1));
    indices.data.forEach((row, i) => {
      for (let k = 0; k < width; k++) {
        const at = row * width + k;
        out[at] = (out[at] as number) + (updates.data[i * width + k] as number);
      }
    });
    return out;
  },
  gradient: ({ inputs }, outer) => [outer, undefined, gather(outer, inputs[1])],
  // ScatterND would do this in one node, but its additions race when there are several threads.
  emit: ({ inputs, shape }, emitter, [start, indices, updates]) => {
    const [count, rows] = [inputs[1].size, shape[0] as number];
    const width = sizeOf(shape.slice(1));
    const depth = emitter.constant("i64", [rows], []);
    const values = emitter.constant("f32", [0, 1], [2]);
    const hot = emitter.node("OneHot", [indices, depth, values], { axis: -1 });
    const flat = emitter.node("Reshape", [updates, emitter.integers([count, width])]);
    // Widths come in eights, numbers of rows do not: threads then share the work without a remainder,
    // which the runtime would sum in another order.
    const transposed = emitter.node("Transpose", [flat], { perm: [1, 0] });
    const added = emitter.node("MatMul", [transposed, hot]);
    const back = emitter.node("Transpose", [added], { perm: [1, 0] });
    const table = emitter.node("Reshape", [back, emitter.integers(shape)]);
    return emitter.node("Add", [start, table]);
  },
};

/** Beyond it the product with one-hot rows costs more than the rest of a step. */
const MAX_ROWS = 4096;

/** A table of zeros with rows added at indices, which may repeat. */
export function scatterAdd(shape: readonly number[], indices: Tensor, rows: Tensor): Tensor {
  if ((shape[0] ?? 0) > MAX_ROWS) {
    throw shapeError(
      "ScatterAdd",
      `a table of more than ${MAX_ROWS} rows cannot be trained; train adapters (LoRA) instead`,
      shape,
    );
  }
  return new Tensor(SCATTER_ADD, [zeros(shape), indices, rows], null);
}

const TAKE: Op<null> = {
  ...GATHER,
  name: "Take",
  gradient: ({ inputs: [, from, back] }, outer) => [
    take(reshape(outer, [from.size, ...outer.shape.slice(from.shape.length)]), back, from),
  ],
  emit: (_, emitter, [x, from]) => emitter.node("Gather", [x, from], { axis: 0 }),
};

/**
 * Rows in another order: row i of the result is row `from[i]`. Few may be left out, and none taken
 * twice; then the gradient is taken as well, by the way back, which costs far less than `scatterAdd`.
 * For a row that was left out, `back` names a place of the result that no loss depends on.
 */
export function take(x: Tensor, from: Tensor, back: Tensor): Tensor {
  return new Tensor(TAKE, [x, from, back], null);
}

const PICK: Op<null> = {
  name: "Pick",
  infer: ([x, indices]) => {
    const fits =
      indices.dtype === "i64" &&
      indices.shape.length === x.shape.length - 1 &&
      indices.shape.every((n, i) => n === x.shape[i]);
    if (!fits) throw shapeError("Pick", "expected one index for each row", x.shape, indices.shape);
    return { shape: indices.shape, dtype: "f32" };
  },
  evaluate: ([x, indices]) => {
    const width = x.shape.at(-1) as number;
    return indices.data.map((at, row) => x.data[row * width + at] as number);
  },
  gradient: ({ inputs: [x, indices] }, outer) => {
    return [new Tensor(SPREAD, [outer, indices], { width: x.shape.at(-1) as number }), undefined];
  },
  emit: ({ inputs, shape }, emitter, [x, indices]) => {
    const column = emitter.node("Reshape", [indices, emitter.integers([...shape, 1])]);
    const axis = inputs[0].shape.length - 1;
    const picked = emitter.node("GatherElements", [x, column], { axis });
    return emitter.node("Reshape", [picked, emitter.integers(shape)]);
  },
};

/** One element of each row of the last axis, such as the log-prob of the actual token. */
export function pick(x: Tensor, indices: Tensor): Tensor {
  return new Tensor(PICK, [x, indices], null);
}

/** The gradient of `pick`: each value at its index, zeros elsewhere. */
const SPREAD: Op<{ readonly width: number }> = {
  name: "Spread",
  infer: ([x], { width }) => ({ shape: [...x.shape, width], dtype: "f32" }),
  evaluate: ([x, indices], { width }) => {
    const out = new Float64Array(x.data.length * width);
    x.data.forEach((value, row) => {
      out[row * width + (indices.data[row] as number)] = value;
    });
    return out;
  },
  gradient: ({ inputs }, outer) => [pick(outer, inputs[1]), undefined],
  emit: ({ attributes: { width } }, emitter, [x, indices]) => {
    const depth = emitter.constant("i64", [width], []);
    const values = emitter.constant("f32", [0, 1], [2]);
    const hot = emitter.node("OneHot", [indices, depth, values], { axis: -1 });
    const column = emitter.node("Unsqueeze", [x, emitter.integers([-1])]);
    return emitter.node("Mul", [hot, column]);
  },
};
