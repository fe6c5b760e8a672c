/** Checks of option values, each failing with what was given and what is accepted. */

import { InvalidArgumentError } from "commander";

export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} up.`);
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
