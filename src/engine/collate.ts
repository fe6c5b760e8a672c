/** Rows of tokens become the arrays that a graph is fed with. */

import { actionCount, actionIndices } from "../core/token-row.ts";
import type { Columns, Reduction, TrainingRow } from "./loss.ts";
import type { Feeds } from "./trainer.ts";

export interface Layout {
  /** Rows of each micro-batch; missing ones are padding with weight 0. */
  readonly rows: number;
  readonly length: number;
  readonly columns: Columns;
  readonly reduction: Reduction;
  readonly maxTokens: number;
}

/** The micro-batches of a batch, each as a graph takes it. */
export function collate(rows: readonly TrainingRow[], layout: Layout): Feeds[] {
  const parts: Feeds[] = [];
  const total = rows.reduce((sum, row) => sum + actionCount(row), 0);
  const count = Math.ceil(rows.length / layout.rows);
  for (let part = 0; part < count; part++) {
    const own = rows.slice(part * layout.rows, (part + 1) * layout.rows);
    const size = {
      ...{ rows: rows.length, tokens: total, parts: count, maxTokens: layout.maxTokens },
      partTokens: own.reduce((sum, row) => sum + actionCount(row), 0),
    };
    parts.push(
      fill(own, rows.length, layout, (row) => weightOf(layout.reduction, actionCount(row), size)),
    );
  }
  return parts;
}

function fill(
  rows: readonly TrainingRow[],
  total: number,
  layout: Layout,
  weigh: (row: TrainingRow) => number,
): Feeds {
  const { rows: count, length, columns } = layout;
  const size = count * length;
  const [tokens, targets] = [new BigInt64Array(size), new BigInt64Array(size)];
  const [mask, weights] = [new Float32Array(size), new Float32Array(size)];
  const extra = Object.fromEntries(
    Object.entries(columns).map(([name, kind]) => [
      name,
      new Float32Array(kind === "token" ? size : count),
    ]),
  );
  const rowWeights = new Float32Array(count);
  for (const [r, row] of rows.entries()) {
    const weight = weigh(row);
    rowWeights[r] = 1 / total;
    // Position i has seen tokens 0 to i and is asked for the next.
    for (let i = 0; i + 1 < row.tokens.length; i++) {
      const at = r * length + i;
      tokens[at] = BigInt(row.tokens[i] as number);
      targets[at] = BigInt(row.tokens[i + 1] as number);
    }
    const learned = Array.from(actionIndices(row), (i) => r * length + i - 1);
    for (const at of learned) {
      mask[at] = 1;
      weights[at] = weight;
    }
    for (const [name, data] of Object.entries(extra)) {
      const value = columnOf(row, name, columns[name] === "row");
      if (typeof value === "number") data[r] = value;
      else
        learned.forEach((at, j) => {
          data[at] = value[j] as number;
        });
    }
  }
  return { tokens, targets, mask, weights, row_weights: rowWeights, ...extra };
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

export interface BatchSize {
  /** Rows of the whole batch. */
  readonly rows: number;
  /** Learned tokens of the whole batch. */
  readonly tokens: number;
  /** Learned tokens of the part that is computed at once. */
  readonly partTokens: number;
  /** How many parts the batch comes in. */
  readonly parts: number;
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
      return 1 / (size.partTokens * size.parts);
    case "dapo":
      return 1 / size.tokens;
    case "dr_grpo":
      return 1 / (size.rows * size.maxTokens);
  }
}
