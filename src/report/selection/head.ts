/** The head of a selection: the first samples against the selected ones. */

import { wilsonInterval } from "../../stats/wilson.ts";
import type { Figure } from "../page/figure-tiles.ts";
import { headArticle } from "../page/head.ts";
import type { Html } from "../page/html.ts";
import { grouped, many, NONE, percent, percentRange, signed } from "../page/numbers.ts";
import type { Named } from "../page/run-names.ts";
import {
  commonFigures,
  factsOf,
  jsonFact,
  passFigure,
  sentenceOf,
  warningsOf,
} from "../scored/head.ts";
import type { SelectionRun } from "./read.ts";

export function selectionHead({ name, run }: Named<SelectionRun>, isTitled: boolean): Html {
  return headArticle({
    name: isTitled ? name : undefined,
    word: "Finished",
    sentence: sentenceOf(run),
    warnings: [...warningsOf(run), ...packWarnings(run)],
    verification: run.verification,
    figures: [...selectionFigures(run), ...commonFigures(run)],
    facts: [jsonFact("selection", run.manifest.selection), ...factsOf(run)],
    remarks: remarksOf(run),
  });
}

function selectionFigures(run: SelectionRun): Figure[] {
  const { pass_at_1: first, delta, rescued = 0, lost = 0 } = run.summary.metrics;
  const n = run.manifest.selection?.n;
  const interval =
    typeof first === "number"
      ? wilsonInterval(Math.round(first * run.scored), run.scored)
      : undefined;
  return [
    {
      label: "pass@1 of the first samples",
      value: typeof first === "number" ? percent(first) : NONE,
      note: interval === undefined ? "no row was scored" : percentRange(interval),
    },
    passFigure(run, `Selected, n = ${typeof n === "number" ? grouped(n) : "?"}`),
    {
      label: "Change by selection",
      value: typeof delta === "number" ? `${signed(100 * delta)} points` : NONE,
      note: `${grouped(rescued)} rescued, ${grouped(lost)} lost`,
    },
  ];
}

function packWarnings({ summary: { metrics } }: SelectionRun): string[] {
  const { n_short_packs: short = 0, n_empty_packs: empty = 0 } = metrics;
  return [
    ...(short > 0 ? [`${many(short, "example")} with fewer samples than n.`] : []),
    ...(empty > 0 ? [`${many(empty, "example")} without a sample.`] : []),
  ];
}

/** Rules that look at the reward; with them the gain is what an oracle would get. */
const BY_REWARD = new Set<unknown>(["best", "tieBreakKey"]);

function remarksOf({ manifest: { selection } }: SelectionRun): string[] {
  return [
    "Selection picks among samples; the policy is the same before and after it.",
    ...(BY_REWARD.has(selection?.rule)
      ? ["The rule uses the same scorer as the measurement, so the gain is an upper bound."]
      : []),
  ];
}
