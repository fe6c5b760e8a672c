/**
 * How many threads a graph may use and still give the same bytes as with one. The runtime's matrix
 * product (MLAS, sgemm.cpp) adds up terms in blocks, and how long a block is depends on how many
 * columns a thread has.
 */

import { isTransposed } from "./ops/layout.ts";
import { inOrder } from "./order.ts";
import { sizeOf } from "./shape.ts";
import type { Tensor } from "./tensor.ts";

/** At most as many as requested. */
export function sameBytesThreads(results: readonly Tensor[], asked: number): number {
  if (asked <= 1) return asked;
  const products = [...inOrder(results)].filter(({ op }) => op.name === "MatMul").map(productOf);
  let threads = asked;
  while (!products.every((product) => isSame(product, threads))) threads--;
  return threads;
}

interface Product {
  /** Whether the left matrix is read by columns: its blocks are the same whatever a thread has. */
  readonly transposed: boolean;
  /** How many of them at once, and of each: rows and columns of the result, and terms of a sum. */
  readonly count: number;
  readonly rows: number;
  readonly columns: number;
  readonly terms: number;
}

function productOf({ inputs, shape }: Tensor): Product {
  const [a, b] = inputs;
  const [columns, terms] = [shape.at(-1) as number, a.shape.at(-1) as number];
  // With one matrix on the right, all rows are one product.
  const one = b.shape.length === 2;
  return {
    transposed: isTransposed(a),
    count: one ? 1 : Math.max(1, sizeOf(shape.slice(0, -2))),
    rows: one ? sizeOf(shape) / columns : (shape.at(-2) as number),
    ...{ columns, terms },
  };
}

/** Multiplications per thread that the runtime uses. */
const WORTH_A_THREAD = 2 ** 16;

/** Whether it gives the same bytes with this many threads. */
function isSame({ transposed, count, rows, columns, terms }: Product, threads: number): boolean {
  const worth = Math.floor((count * rows * columns * terms) / WORTH_A_THREAD) + 1;
  const parts = Math.ceil(Math.min(threads, worth) / count);
  // A single row is added up without blocks.
  if (parts === 1 || rows === 1) return true;
  // A single column is added up four rows at a time, and what is left over differently.
  if (columns === 1) return rows % (4 * parts) === 0;
  // Where rows are shared, only a thread with a single one computes differently.
  if (columns <= rows) return Math.floor(rows / parts) > 1;
  if (transposed) return true;
  const whole = blockOf(columns, terms);
  return piecesOf(columns, parts).every((piece) => blockOf(piece, terms) === whole);
}

/** Columns that are never divided. */
const TOGETHER = 16;

/** The sizes that occur when columns are shared. */
function piecesOf(columns: number, parts: number): number[] {
  const blocks = Math.ceil(columns / TOGETHER);
  const [few, rest] = [Math.floor(blocks / parts), blocks % parts];
  const filled = blocks * TOGETHER - columns;
  return [
    ...(rest > 0 ? [(few + 1) * TOGETHER] : []),
    few * TOGETHER,
    few * TOGETHER - filled, // The last one.
  ].filter((piece) => piece > 0);
}

/** How many terms are added up before the sum goes to memory. */
function blockOf(columns: number, terms: number): number {
  let [wide, long] = [128, 128];
  if (columns >= terms) {
    for (; long / 2 >= terms; wide *= 2) long /= 2;
  } else {
    for (; wide > 16 && wide / 2 >= columns; wide /= 2) long *= 2;
  }
  return Math.min(long, terms);
}
