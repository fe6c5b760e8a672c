/** Options that several commands have, and parsers of option values; errors say what is accepted. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { usageError } from "../core/errors.ts";

export function wholeNumber(
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} up` : `${least} to ${most}`;
  return (text) => {
    const value = Number(text);
    if (/^[0-9]+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${range}.`);
  };
}

export function numberIn(low: number, high: number, words: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && value >= low && value <= high) return value;
    throw new InvalidArgumentError(`It must be ${words}.`);
  };
}

export const finiteNumber = numberIn(-Number.MAX_VALUE, Number.MAX_VALUE, "a finite number");
export const fromZero = numberIn(0, Number.MAX_VALUE, "a number from 0 up");

/** For options that can be repeated. */
export const repeated = (value: string, before: readonly string[] = []) => [...before, value];

export const EXAMPLES = [
  "--dataset <file>",
  "examples, JSONL: id, prompt, expected_answer",
] as const;

export const SEED = ["--seed <n>", "random seed", wholeNumber(0, 2 ** 31 - 1), 0] as const;

export type Format = "text" | "json";
export const FORMAT = new Option("--format <format>", "output format")
  .choices(["text", "json"] satisfies Format[])
  .default("text");

export interface RunFlags {
  readonly outdir: string;
  readonly force?: boolean;
  readonly quiet?: boolean;
}

/** For commands that write a run. */
export function addRunOptions(command: Command, existing = "a finished run"): Command {
  return command
    .requiredOption("--outdir <folder>", "output folder; new or empty")
    .option("--force", `overwrite ${existing} in --outdir`)
    .option("--quiet", "print only errors");
}

/** The log of a tabular experiment is kept in memory for its charts, hence the limit. */
export const STEPS = wholeNumber(0, 200_000);

/** Money for a million tokens: both prices, or none. */
export function pricesOf({
  priceIn,
  priceOut,
}: {
  readonly priceIn?: number;
  readonly priceOut?: number;
}): { in: number; out: number } | undefined {
  if (priceIn === undefined && priceOut === undefined) return undefined;
  if (priceIn !== undefined && priceOut !== undefined) return { in: priceIn, out: priceOut };
  throw usageError("--price-in and --price-out must be given together", "Give both, or neither.");
}
