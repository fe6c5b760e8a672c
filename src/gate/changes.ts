/** What differs between two runs, in words that users know. */

import type { Change } from "../core/knobs.ts";
import type { Reason } from "../runs/gate-report.ts";
import { ON_VALIDATION_DATA } from "./history.ts";

/**
 * Differences in how the answers were made, by reason code. They refuse a claim of an improvement, whose
 * cause must be one thing. A claim of no regression has no cause to name, so it allows them.
 */
export const OF_THE_ANSWERS: ReadonlyMap<string, string> = new Map([
  ["prompt_settings_differ", "prompt"],
  ["sampling_differs", "sampling"],
  ["samples_differ", "samples"],
]);

/** What a table that decides nothing may show besides. */
export const SHOWN_IN_TABLES: ReadonlyMap<string, string> = new Map([
  ...OF_THE_ANSWERS,
  ["seeds_differ", "seed"],
  ["games_differ", "games"],
  [ON_VALIDATION_DATA, "seen in validation"],
]);

/** The knobs and the allowed differences; an environment that differs has its parts named. */
export function changesOf(
  knobs: readonly Change[],
  reasons: readonly Reason[],
  allowed: ReadonlyMap<string, string>,
): string[] {
  const parts = reasons.flatMap(({ code }) => allowed.get(code) ?? []);
  return [...new Set([...knobs.filter((knob) => knob !== "environment"), ...parts])];
}
