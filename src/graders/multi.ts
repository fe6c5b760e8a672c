/** `multi`: several graders, and a formula of their rewards. */

import { dataError } from "../core/errors.ts";
import {
  type Expression,
  evaluate,
  FormulaError,
  type LogBase,
  NoNumber,
  parseExpression,
} from "./expression.ts";
import { type Fault, fault } from "./fault.ts";
import { formulaRange, type Range } from "./formula-range.ts";
import type { MultiGrader, SingleGrader } from "./grader-schema.ts";
import {
  type Grade,
  isFault,
  type OpenedGrader,
  type OpenKind,
  SHARE_CODES,
  shareCode,
  thresholdDetails,
} from "./opened.ts";
import type { Variables } from "./template.ts";

type Context = Parameters<OpenKind<unknown>>[1];
type Parts = ReadonlyMap<string, Grade | Fault>;

/** Opens a multi grader, whose graders `openPart` opens. */
export async function openMulti(
  grader: MultiGrader,
  { settings, where }: Context,
  openPart: (part: SingleGrader, context: Context) => Promise<OpenedGrader>,
): Promise<OpenedGrader> {
  const { calculate_output: text, pass_threshold } = grader;
  const formula = readFormula(text, grader, where);
  const parts = new Map<string, OpenedGrader>();
  // By name, because a manifest does not keep the order of a file.
  for (const [key, part] of Object.entries(grader.graders).sort(([a], [b]) => (a < b ? -1 : 1)))
    parts.set(key, await openPart(part, { settings, where: `${where}: graders.${key}` }));
  const all = [...parts.values()];
  const exact = all.every((part) => part.exact);
  const fields = all.map((part) => part.itemFields);
  const result = (given: Parts) => calculated(formula, given, settings.log_base, pass_threshold);
  return {
    exact,
    deterministic: all.every((part) => part.deterministic),
    codes: SHARE_CODES,
    range: formulaRange(formula, rangesOf(parts), settings.log_base),
    itemFields: fields.some((one) => one === undefined)
      ? undefined
      : fields.flatMap((one) => one ?? []),
    spec: `${text}, where ${[...parts].map(([key, { spec }]) => `${key} is: ${spec}`).join("; ")}`,
    grade: exact
      ? (variables) => result(gradedNow(parts, variables))
      : async (variables) => result(await gradedAll(parts, variables)),
    sandboxed: !exact && all.every((part) => part.exact || part.sandboxed === true),
    ownLimit: all.some((part) => part.ownLimit === true),
    get runtime() {
      const named = new Set(all.flatMap(({ runtime }) => runtime ?? []));
      return named.size > 0 ? [...named].sort().join(", ") : undefined;
    },
    async ready() {
      for (const part of all) await part.ready?.();
    },
    async close() {
      for (const part of all) await part.close?.();
    },
  };
}

function readFormula(text: string, { graders }: MultiGrader, where: string): Expression {
  try {
    return parseExpression(text, new Set(Object.keys(graders)));
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    throw dataError(
      `${where}: calculate_output: ${error.message}`,
      "Use names of graders, numbers, + - * / ^, parentheses, and min max abs floor ceil exp sqrt log.",
    );
  }
}

function rangesOf(parts: ReadonlyMap<string, OpenedGrader>): Map<string, Range> {
  const ranges = new Map<string, Range>();
  for (const [key, { range, exact }] of parts) {
    // A string_check states none: it gives 0 or 1.
    if (range ?? exact) ranges.set(key, range ?? [0, 1]);
  }
  return ranges;
}

function gradedNow(parts: ReadonlyMap<string, OpenedGrader>, variables: Variables): Parts {
  const graded = new Map<string, Grade | Fault>();
  for (const [key, part] of parts) graded.set(key, part.grade(variables) as Grade | Fault);
  return graded;
}

async function gradedAll(
  parts: ReadonlyMap<string, OpenedGrader>,
  variables: Variables,
): Promise<Parts> {
  const graded = [...parts].map(async ([key, part]) => [key, await part.grade(variables)] as const);
  return new Map(await Promise.all(graded));
}

/**
 * A part that cannot read the sample counts as 0, as it does by itself. A part that breaks, or that
 * cannot read the item, leaves the whole without a grade.
 */
function calculated(
  formula: Expression,
  parts: Parts,
  logBase: LogBase,
  threshold: number | undefined,
): Grade | Fault {
  const values = new Map<string, number>();
  for (const [key, part] of parts) {
    if (!isFault(part)) values.set(key, part.reward);
    else if (part.blame === "sample") values.set(key, 0);
    else return { ...part, message: `${key}: ${part.message}` };
  }
  try {
    const reward = rounded(evaluate(formula, values, logBase));
    const graders = Object.fromEntries(values);
    const details = { graders, ...thresholdDetails(threshold, reward), ...faultsOf(parts) };
    return { reward, code: shareCode(reward), details, parts };
  } catch (error) {
    if (error instanceof NoNumber) return fault("other_error", "grader", error.message);
    throw error;
  }
}

function faultsOf(parts: Parts) {
  const faults = [...parts].flatMap(([key, part]) => (isFault(part) ? [[key, part] as const] : []));
  if (faults.length === 0) return {};
  return {
    message: faults.map(([key, { message }]) => `${key}: ${message}`).join("; "),
    errors: Object.fromEntries(faults.map(([, { flag }]) => [flag, true])),
  };
}

/** To 12 places: 0.6 + 0.3 + 0.1 is 0.9999999999999999, and would not pass. */
function rounded(value: number): number {
  const near = Math.round(value * 1e12) / 1e12;
  return Number.isFinite(near) && Math.abs(value) < 1e3 ? near : value;
}
