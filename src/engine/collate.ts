/** Rows of tokens become the arrays that a graph is fed with. */

import { actionCount } from "../core/token-row.ts";
import type { Data } from "../graph/session.ts";
import { roundedActions, roundedRows } from "../policy/graph-sizes.ts";
import { packedFeeds } from "../policy/packed-feeds.ts";
import type { Packing, PackShape, Part } from "../policy/packing.ts";
import type { Columns, Reduction, TrainingRow } from "./loss.ts";

/** The sizes of a loss's graph. */
export interface BatchShape extends PackShape {
  /** Rows of a part; missing ones are padding with weight 0. */
  readonly rows: number;
  /** Learned tokens of a row, with at least one to spare. */
  readonly actions: number;
}

export type Feeds = Readonly<Record<string, Data>>;

export interface CollateOptions {
  readonly columns: Columns;
  readonly reduction: Reduction;
  /** The most tokens that a completion may have. */
  readonly maxTokens: number;
  /** Rows of a micro-batch, by which one of the reductions divides; null for the whole batch. */
  readonly microBatchSize: number | null;
}

export function batchShape(
  rows: readonly TrainingRow[],
  { shape, parts }: Packing,
  maxTokens: number,
): BatchShape {
  const most = Math.max(...parts.map((part) => part.rows.length));
  const longest = rows.reduce((most, row) => Math.max(most, actionCount(row)), maxTokens);
  return {
    ...shape,
    rows: roundedRows(most),
    actions: roundedActions(longest + 1),
  };
}

/** The parts of a batch, each as a graph takes it, and made when it is needed: masks are large. */
export function collate(
  rows: readonly TrainingRow[],
  { parts }: Packing,
  shape: BatchShape,
  options: CollateOptions,
): (() => Feeds)[] {
  const weights = weightsOf(rows, options);
  return parts.map((part) => () => ({
    ...packedFeeds(part, shape),
    ...lossFeeds(rows, weights, part, shape, options.columns),
  }));
}

/** What the loss reads: [rows, actions], and which target of the graph each cell is. */
function lossFeeds(
  all: readonly TrainingRow[],
  weightOfRow: readonly number[],
  part: Part,
  { rows: count, actions, targets }: BatchShape,
  columns: Columns,
): Feeds {
  const size = count * actions;
  const cells = new BigInt64Array(size).fill(BigInt(targets - 1));
  const back = new BigInt64Array(targets).fill(BigInt(size - 1));
  const [mask, weights] = [new Float32Array(size), new Float32Array(size)];
  const rowWeights = new Float32Array(count);
  const extra = Object.fromEntries(
    Object.entries(columns).map(([name, kind]) => [
      name,
      new Float32Array(kind === "token" ? size : count),
    ]),
  );
  for (const [r, { row: index, target }] of part.rows.entries()) {
    const row = all[index] as TrainingRow;
    const [first, length] = [r * actions, actionCount(row)];
    rowWeights[r] = 1 / all.length;
    mask.fill(1, first, first + length);
    weights.fill(weightOfRow[index] as number, first, first + length);
    for (let j = 0; j < length; j++) {
      cells[first + j] = BigInt(target + j);
      back[target + j] = BigInt(first + j);
    }
    for (const [name, data] of Object.entries(extra)) {
      const value = columnOf(row, name, columns[name] === "row");
      if (typeof value === "number") data[r] = value;
      else data.set(value, first);
    }
  }
  return { cells, cells_back: back, mask, weights, row_weights: rowWeights, ...extra };
}

function columnOf(row: TrainingRow, name: string, whole: boolean): number | ArrayLike<number> {
  const value = row.columns[name];
  if (value === undefined) throw new Error(`a row has no column "${name}"`);
  if (typeof value === "number" && whole) return value;
  const found = typeof value === "number" ? 1 : value.length;
  const expected = whole ? 1 : actionCount(row);
  if (whole || typeof value === "number" || found !== expected) {
    throw new Error(`the column "${name}" has ${found} numbers, expected ${expected}`);
  }
  return value;
}

/** Of each token of each row. */
function weightsOf(
  rows: readonly TrainingRow[],
  { reduction, maxTokens, microBatchSize }: CollateOptions,
): number[] {
  const lengths = rows.map(actionCount);
  const total = (list: readonly number[]) => list.reduce((sum, length) => sum + length, 0);
  const tokens = total(lengths);
  const size = Math.min(microBatchSize ?? rows.length, rows.length);
  const microBatches = Array.from({ length: Math.ceil(rows.length / size) }, (_, i) =>
    total(lengths.slice(i * size, (i + 1) * size)),
  );
  return lengths.map((length, i) =>
    weightOf(reduction, length, {
      ...{ rows: rows.length, tokens, maxTokens, microBatches: microBatches.length },
      microBatchTokens: microBatches[Math.floor(i / size)] as number,
    }),
  );
}

export interface BatchSize {
  /** Rows of the whole batch. */
  readonly rows: number;
  /** Learned tokens of the whole batch. */
  readonly tokens: number;
  /** Learned tokens of the micro-batch. */
  readonly microBatchTokens: number;
  /** How many micro-batches there are. */
  readonly microBatches: number;
  /** The most tokens that a completion may have. */
  readonly maxTokens: number;
}

/** The weight of each token of a row with `length` learned tokens. */
export function weightOf(reduction: Reduction, length: number, size: BatchSize): number {
  if (length === 0) return 0;
  switch (reduction) {
    case "sequences":
      return 1 / size.rows;
    case "grpo":
      return 1 / (size.rows * length);
    case "bnpo":
      return 1 / (size.microBatchTokens * size.microBatches);
    case "dapo":
      return 1 / size.tokens;
    case "dr_grpo":
      return 1 / (size.rows * size.maxTokens);
  }
}
