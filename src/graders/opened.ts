/** What every kind of grader is once it is open, and what it says of one sample. */

import type { JsonObject } from "../core/json.ts";
import type { Fault } from "./fault.ts";
import type { Range } from "./formula-range.ts";
import type { GraderSettings } from "./settings.ts";
import type { Variables } from "./template.ts";

export interface Grade {
  readonly reward: number;
  /** One of the grader's codes. */
  readonly code: string;
  readonly details?: JsonObject;
  /** Of a multi grader: what each of its graders gave. */
  readonly parts?: ReadonlyMap<string, Grade | Fault>;
}

export interface OpenedGrader {
  /** Computed here and now from its JSON alone: synchronous, deterministic, without side effects. */
  readonly exact: boolean;
  readonly deterministic: boolean;
  readonly codes: readonly string[];
  readonly range: Range | undefined;
  /** The members of the item that it reads; undefined for any. */
  readonly itemFields: readonly string[] | undefined;
  /** The rule in words. */
  readonly spec: string;
  /** Computed from its JSON alone by a process of its own, which is safe for anybody's JSON. */
  readonly sandboxed?: boolean;
  /** It ends a grade that takes too long by itself. */
  readonly ownLimit?: boolean;
  /** What its grades depend on besides its JSON and our code, such as an interpreter. */
  readonly runtime?: string | undefined;
  /** Starts what it needs. Throws a sentence about what only then is found to be wrong. */
  ready?(): Promise<void>;
  grade(variables: Variables): Grade | Fault | Promise<Grade | Fault>;
  close?(): Promise<void>;
}

/** How a kind of grader is opened; `where` begins the messages of errors. */
export type OpenKind<G> = (
  grader: G,
  context: { readonly settings: GraderSettings; readonly where: string },
) => OpenedGrader | Promise<OpenedGrader>;

export function isFault(given: Grade | Fault): given is Fault {
  return "flag" in given;
}

/** Codes of graders whose reward is a share. */
export const SHARE_CODES = ["full", "partial", "none"] as const;

export function shareCode(reward: number): (typeof SHARE_CODES)[number] {
  if (reward >= 1) return "full";
  return reward > 0 ? "partial" : "none";
}

/** What a threshold adds to the details; the reward stays as it is. */
export function thresholdDetails(threshold: number | undefined, reward: number): JsonObject {
  return threshold === undefined ? {} : { passed: reward >= threshold };
}
