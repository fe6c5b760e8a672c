/** One part of a verification: what was made again, and where it is not what the run holds. */

import { canonicalJson } from "../core/json.ts";
import type { PartName, VerificationPart } from "../runs/verification.ts";

/** How many differences are named. */
const NAMED = 5;
const LONGEST = 400;
/** Fields that say most about a row that differs. */
const TELLING = ["completion", "reward", "outcome_code", "loss"];

/** Counts what is compared and keeps the first differences. */
export class Comparison {
  repeated = 0;
  differences = 0;
  readonly #first: VerificationPart["first"] = [];

  /** One row, file or step, which differs if any of its fields does; the first of them is named. */
  compare(
    id: string,
    expected: Readonly<Record<string, unknown>>,
    found: Readonly<Record<string, unknown>>,
  ): void {
    this.repeated++;
    const names = new Set([...TELLING, ...Object.keys(expected), ...Object.keys(found)]);
    const what = [...names].find((name) => textOf(expected[name]) !== textOf(found[name]));
    if (what !== undefined) this.differs(id, what, expected[what], found[what]);
  }

  /** Something that is not a row, such as a field of the manifest. */
  differs(id: string, what: string, expected: unknown, found: unknown): void {
    this.differences++;
    if (this.#first.length === NAMED) return;
    this.#first.push({ id, what, expected: short(expected), found: short(found) });
  }

  part(part: PartName, of: number, message: string): VerificationPart {
    const { repeated, differences } = this;
    const status = differences > 0 ? "differs" : "equal";
    return { part, status, repeated, of, message, differences, first: this.#first };
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
