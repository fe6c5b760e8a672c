/** Sabotages of the decision itself. */

import { type BaseRow, WITHHELD } from "../base.ts";
import { stated } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { againstBaseline, byGate, HONEST_PAIR } from "./against-baseline.ts";
import { completionsIn, examplesIn } from "./rows.ts";

/** The completions with so many right answers withheld, from the first or the last. */
function withheld(rows: readonly BaseRow[], count: number, from: "first" | "last"): string[] {
  const passed = rows.filter(({ passes }) => passes).map(({ id }) => id);
  const gone = new Set(from === "first" ? passed.slice(0, count) : passed.slice(-count));
  return rows.map(({ id, completion }) => (gone.has(id) ? WITHHELD : completion));
}

export const STATISTICS: readonly Sabotage[] = [
  againstBaseline(
    "statistics",
    {
      name: "generous-alpha",
      trick: "Asks for a significance level of 0.5, at which half of all coin flips are promoted.",
      honest: "The same runs at a level of 0.05.",
      caught: { check: "gate", code: "exit 64", says: /alpha/ },
    },
    { cheatGate: { alpha: 0.5 } },
  ),
  againstBaseline(
    "statistics",
    {
      name: "lucky-difference",
      trick: "Calls three more right answers an improvement.",
      honest: HONEST_PAIR,
      caught: byGate("not_significant"),
    },
    { baseline: (rows) => ({ completions: withheld(rows, 3, "first") }) },
  ),
  againstBaseline(
    "statistics",
    {
      name: "small-gain",
      trick: "Promotes a real but small gain where at least 0.9 was asked for.",
      honest: "The same gain, where none of that size was asked for.",
      caught: byGate("below_min_delta"),
    },
    { cheatGate: { minDelta: 0.9 } },
  ),
  againstBaseline(
    "statistics",
    {
      name: "negative-margin",
      trick: "Sets the smallest improvement below 0, so that a worse policy would do.",
      honest: "The same runs with a smallest improvement of 0.",
      caught: { check: "gate", code: "exit 64", says: /min-delta/ },
    },
    { cheatGate: { minDelta: -0.5 } },
  ),
  againstBaseline(
    "statistics",
    {
      name: "crossing-flips",
      trick: "Shows only the examples that were gained; as many others were lost.",
      honest: HONEST_PAIR,
      caught: byGate("no_difference"),
    },
    {
      baseline: (rows) => ({ completions: withheld(rows, 6, "first") }),
      candidate: (rows) => ({ completions: withheld(rows, 6, "last") }),
    },
  ),
  againstBaseline(
    "statistics",
    {
      name: "renamed-policy",
      trick: "Gives an unchanged policy a new name and asks for its promotion.",
      honest: HONEST_PAIR,
      caught: byGate("no_difference"),
    },
    {
      baseline: (rows) => ({ completions: completionsIn(rows), provenance: stated("earlier") }),
    },
  ),
  againstBaseline(
    "statistics",
    {
      name: "worse-policy",
      trick: "Swaps baseline and candidate, so that the older, better policy looks like the newer.",
      honest: HONEST_PAIR,
      caught: byGate("worse"),
    },
    {
      baseline: (rows) => ({ completions: completionsIn(rows) }),
      candidate: (rows) => ({ completions: withheld(rows, rows.length, "first") }),
    },
  ),
  againstBaseline(
    "statistics",
    {
      name: "sandbagged-baseline",
      trick: "Lets the baseline answer badly on purpose, so that an unchanged policy looks better.",
      honest: HONEST_PAIR,
      caught: {
        check: "nothing",
        because: "a baseline that was made weak is, to every check, a weak baseline",
      },
    },
    { baseline: (rows) => ({ completions: withheld(rows, rows.length, "first") }) },
  ),
  againstBaseline(
    "statistics",
    {
      name: "wrong-key-for-both",
      trick:
        "Uses an answer key with the same mistakes in both runs, which the candidate has learned.",
      honest: HONEST_PAIR,
      caught: {
        check: "nothing",
        because: "both runs agree on the key, and no check knows a better one",
      },
    },
    {
      baseline: (rows) => ({ examples: wrongKey(rows) }),
      candidate: (rows) => ({
        examples: wrongKey(rows),
        completions: rows.map(({ passes, completion }) => (passes ? completion : "Final: 7")),
      }),
    },
  ),
];

function wrongKey(rows: readonly BaseRow[]) {
  return examplesIn(rows).map((example, i) =>
    rows[i]?.passes ? example : { ...example, expected_answer: 7 },
  );
}
