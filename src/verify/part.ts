/** One part of a verification: what was made again, and where it is not what the run holds. */

import { canonicalJson } from "../core/json.ts";
import type { PartName, VerificationPart } from "../runs/verification.ts";

/** How many differences are named. */
const NAMED = 5;
const LONGEST = 400;

/** Counts what is compared and keeps the first differences. */
export class Comparison {
  repeated = 0;
  differences = 0;
  readonly #first: VerificationPart["first"] = [];

  /** One row, file or step; each of its fields that differs is one difference. */
  compare(
    id: string,
    expected: Readonly<Record<string, unknown>>,
    found: Readonly<Record<string, unknown>>,
  ): void {
    this.repeated++;
    const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
    const other = names.filter((name) => textOf(expected[name]) !== textOf(found[name]));
    if (other.length > 0) this.differences++;
    for (const what of other) this.#name(id, what, expected[what], found[what]);
  }

  /** Something that is not a row, such as a field of the manifest. */
  differs(id: string, what: string, expected: unknown, found: unknown): void {
    this.differences++;
    this.#name(id, what, expected, found);
  }

  part(part: PartName, of: number, message: string): VerificationPart {
    const { repeated, differences } = this;
    const status = differences > 0 ? "differs" : "equal";
    return { part, status, repeated, of, message, differences, first: this.#first };
  }

  #name(id: string, what: string, expected: unknown, found: unknown): void {
    if (this.#first.length === NAMED) return;
    this.#first.push({ id, what, expected: short(expected), found: short(found) });
  }
}

function textOf(value: unknown): string {
  return value === undefined ? "(none)" : canonicalJson(value);
}

function short(value: unknown): string {
  const text = textOf(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** It was asked for and cannot be done, for this reason. */
export function impossible(part: PartName, of: number, message: string): VerificationPart {
  return { part, status: "impossible", repeated: 0, of, message, differences: 0, first: [] };
}

/** There is nothing to compare, which is no objection. */
export function skipped(part: PartName, message: string): VerificationPart {
  return { part, status: "skipped", repeated: 0, of: 0, message, differences: 0, first: [] };
}

/** Called with what is being done, how much of it is done, and how much there is. */
export type OnProgress = (what: string, done: number, total: number) => void;

/** Thrown where a part cannot be made again; the message says why. */
export class Unreachable extends Error {}
