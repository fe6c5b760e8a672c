/** What a sabotage is: a trick, its honest twin, and the check that must catch it. */

import type { Check, Finding, Outcome } from "./finding.ts";
import type { Laboratory } from "./laboratory.ts";

export const FAMILIES = [
  "data",
  "prompt",
  "scorer",
  "sampling",
  "selection",
  "seeds",
  "leaks",
  "forgeries",
  "axes",
  "aliases",
  "statistics",
  "training",
] as const;
export type Family = (typeof FAMILIES)[number];

/** The check that must catch it. Refusals of one exit code are told apart by their words. */
export interface Caught {
  readonly check: Check;
  readonly code: string;
  readonly says?: RegExp;
}

/** Nothing catches it, for this reason. */
export interface Uncaught {
  readonly check: "nothing";
  readonly because: string;
}

export interface Sabotage {
  /** Lower case, with hyphens. */
  readonly name: string;
  readonly family: Family;
  /** One sentence: what is done, and what a person would gain. */
  readonly trick: string;
  /** The same without the trick, which must not be refused for that reason. */
  readonly honest: string;
  readonly caught: Caught | Uncaught;
  /** The pipeline with the trick, or its honest twin. */
  play(lab: Laboratory, cheat: boolean): Promise<Outcome>;
}

export function isCatch({ check, code, says }: Caught, finding: Finding): boolean {
  return finding.check === check && finding.code === code && (says?.test(finding.message) ?? true);
}

/** "gate: seeds_differ" */
export function nameOf(caught: Caught | Uncaught): string {
  return caught.check === "nothing" ? "nothing" : `${caught.check}: ${caught.code}`;
}
