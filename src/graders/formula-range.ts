/**
 * Between which numbers the answer of a formula lies when its graders lie within theirs. It may be
 * wider than need be, never narrower; undefined where it cannot be told.
 */

import {
  applied,
  combined,
  type Expression,
  type FunctionName,
  type LogBase,
} from "./expression.ts";

export type Range = readonly [low: number, high: number];

export function formulaRange(
  expression: Expression,
  ranges: ReadonlyMap<string, Range>,
  logBase: LogBase,
): Range | undefined {
  if (expression.kind === "number") return [expression.value, expression.value];
  if (expression.kind === "variable") return ranges.get(expression.name);
  const args = expression.args.map((one) => formulaRange(one, ranges, logBase));
  if (!args.every((one) => one !== undefined)) return undefined;
  const range =
    expression.kind === "call"
      ? callRange(expression.name, args, logBase)
      : operationRange(expression.sign, args as [Range, Range]);
  return range?.every(Number.isFinite) ? range : undefined;
}

function operationRange(
  sign: Parameters<typeof combined>[0],
  [a, b]: readonly [Range, Range],
): Range | undefined {
  if (sign === "negate") return [0 - a[1], 0 - a[0]];
  // Where the base may be negative or the divisor 0, the ends say nothing about the middle.
  if (sign === "/" && b[0] <= 0 && b[1] >= 0) return undefined;
  if (sign === "^" && (a[0] < 0 || (a[0] === 0 && b[0] < 0))) return evenPower(a, b);
  return hull(a.flatMap((x) => b.map((y) => combined(sign, [x, y]))));
}

/** Of a base that may be negative, whole powers alone. */
function evenPower(a: Range, [power, same]: Range): Range | undefined {
  if (power !== same || !Number.isInteger(power) || power < 0) return undefined;
  const ends = a.map((x) => x ** power);
  return hull(a[0] <= 0 && a[1] >= 0 ? [...ends, power === 0 ? 1 : 0] : ends);
}

function callRange(
  name: FunctionName,
  args: readonly Range[],
  logBase: LogBase,
): Range | undefined {
  const low = args.map(([end]) => end);
  const high = args.map(([, end]) => end);
  const [[from, to]] = args as [Range];
  if (name === "log" && from <= 0) return undefined;
  if (name === "sqrt" && from < 0) return undefined;
  if (name === "abs" && from < 0) return [to < 0 ? -to : 0, Math.max(-from, to)];
  return [applied(name, low, logBase), applied(name, high, logBase)];
}

function hull(values: readonly number[]): Range {
  return [Math.min(...values), Math.max(...values)];
}
