/** Parsers for option values; errors say what is accepted. */

import { InvalidArgumentError, Option } from "commander";
import { DEFAULT_SCORER } from "../scorers/load.ts";
import { DEFAULT_CONCURRENCY } from "../scorers/open.ts";

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

export const SCORER_HELP = `a built-in, or a .ts or .js file (default: the\nworkspace's own, otherwise ${DEFAULT_SCORER})`;

export const CONCURRENCY = new Option(
  "--concurrency <n>",
  "rows at once, for an asynchronous scorer",
)
  .argParser(wholeNumber(1, 256))
  .default(DEFAULT_CONCURRENCY);

/** At most a day: timers cannot count much further. */
export const milliseconds = wholeNumber(1, 86_400_000);

export function numberIn(low: number, high: number, words: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && value >= low && value <= high) return value;
    throw new InvalidArgumentError(`It must be ${words}.`);
  };
}

export const finiteNumber = numberIn(-Number.MAX_VALUE, Number.MAX_VALUE, "a finite number");

/** The log of a tabular experiment is kept in memory for its charts, hence the limit. */
export const STEPS = wholeNumber(0, 200_000);
export const SEED = wholeNumber(0, 2 ** 31 - 1);
