/** Rows of tokens become the arrays that a graph is fed with. */

import type { Columns, Reduction, Row } from "../algorithm.ts";
import type { Feeds } from "../trainer.ts";
import { weightOf } from "./reductions.ts";

export interface Layout {
  /** Rows of each part; missing ones are filled up and weigh nothing. */
  readonly rows: number;
  readonly length: number;
  readonly columns: Columns;
  readonly reduction: Reduction;
  readonly mostTokens: number;
}

export function learnedTokens({ tokens, prompt }: Row): number {
  return tokens.length - prompt;
}

/** The parts of a batch, each as a graph takes it. */
export function collate(rows: readonly Row[], layout: Layout): Feeds[] {
  const parts: Feeds[] = [];
  const total = rows.reduce((sum, row) => sum + learnedTokens(row), 0);
  const count = Math.ceil(rows.length / layout.rows);
  for (let part = 0; part < count; part++) {
    const own = rows.slice(part * layout.rows, (part + 1) * layout.rows);
    const size = {
      ...{ rows: rows.length, tokens: total, parts: count, mostTokens: layout.mostTokens },
      partTokens: own.reduce((sum, row) => sum + learnedTokens(row), 0),
    };
    parts.push(
      fill(own, rows.length, layout, (row) => weightOf(layout.reduction, learnedTokens(row), size)),
    );
  }
  return parts;
}

function fill(
  rows: readonly Row[],
  total: number,
  layout: Layout,
  weigh: (row: Row) => number,
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
      if (i + 1 < row.prompt) continue;
      mask[at] = 1;
      weights[at] = weight;
    }
    for (const [name, data] of Object.entries(extra)) {
      const value = row.columns[name];
      if (value === undefined) throw new Error(`a row has no column "${name}"`);
      const numbers = typeof value === "number" ? [value] : value;
      const whole = columns[name] === "row";
      const wanted = whole ? 1 : learnedTokens(row);
      if (numbers.length !== wanted || whole !== (typeof value === "number")) {
        throw new Error(
          `the column "${name}" does not fit: ${wanted} wanted, ${numbers.length} there`,
        );
      }
      const first = whole ? r : r * length + row.prompt - 1;
      for (let j = 0; j < wanted; j++) data[first + j] = numbers[j] as number;
    }
  }
  return { tokens, targets, mask, weights, row_weights: rowWeights, ...extra };
}
