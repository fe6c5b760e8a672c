/** The measured difference with its interval, and the rates of both runs, as charts. */

import { isUnchanged, lossesRuledOut } from "../../gate/render.ts";
import {
  effectText,
  isClustered,
  isGraded,
  oneSided,
  pText,
  TEST_NAMES,
} from "../../gate/words.ts";
import type { GateReport } from "../../runs/gate-report.ts";
import type { Figure } from "../page/figure-tiles.ts";
import { type Html, html } from "../page/html.ts";
import { intervalFigure } from "../page/interval-chart.ts";
import { grouped, NONE, plain, signed } from "../page/numbers.ts";
import type { ComparedRows } from "./compare-rows.ts";
import type { RateEstimate } from "./rate-of-prompts.ts";

export function verdictFigures(verdict: GateReport): Figure[] {
  const { baseline, candidate, delta, ci, p_value: p, test, seeds_tried: seeds } = verdict;
  const level = plain(seeds?.level ?? verdict.alpha);
  const mde = verdict.minimum_detectable_effect;
  const side = (label: string, { pass_rate, mean_reward, n_scored }: GateReport["baseline"]) => ({
    label: `${label}, ${isGraded(verdict) ? "mean reward" : "pass rate"}`,
    value: fixed(isGraded(verdict) ? mean_reward : pass_rate),
    note: `${grouped(n_scored)} scored`,
  });
  return [
    side("Baseline", baseline),
    side("Candidate", candidate),
    ...(delta === null || ci === null
      ? []
      : [
          {
            label: "Difference",
            value: signedFixed(delta),
            note: `${confidence(ci)} interval ${signedFixed(ci.low)} to ${signedFixed(ci.high)}`,
          },
        ]),
    ...(p === null || test === null
      ? []
      : [{ label: "Significance", value: pText(p), note: `${TEST_NAMES[test]}, α ${level}` }]),
    ...lossFigure(verdict),
    ...(mde === null
      ? []
      : [{ label: "Minimum detectable effect", value: effectText(mde), note: "80 % power" }]),
  ];
}

/** Of a claim of no regression: the smallest loss that is ruled out. */
function lossFigure(verdict: GateReport): Figure[] {
  const { margin, margin_p_value: p, loss_bound: bound } = verdict;
  if (margin === undefined || isUnchanged(verdict)) return [];
  const value = lossesRuledOut(verdict).replace(/^losses of |^no loss.*| (is|are) ruled out$/g, "");
  const test = typeof bound === "number" ? `, ${oneSided(p)}` : "";
  return [{ label: "Losses ruled out", value: value || "none", note: `margin ${margin}${test}` }];
}

/** The line of no change, and those that the claim is about; each label is on the outer side. */
export function linesOf({ margin, least = 0 }: { margin?: number | undefined; least?: number }) {
  return [
    ...(margin === undefined
      ? []
      : [{ x: -margin, label: `margin ${signed(-margin)}`, side: "left" as const }]),
    { x: 0, label: "no change", side: least > 0 ? ("left" as const) : ("right" as const) },
    ...(least > 0
      ? [{ x: least, label: `min-delta ${plain(least)}`, side: "right" as const }]
      : []),
  ];
}

/** Four decimals everywhere on the page, as in the text of the gate. */
const fixed = (value: number | null): string =>
  value === null ? NONE : value.toFixed(4).replace("-", "−");
const signedFixed = (value: number): string => `${value > 0 ? "+" : ""}${fixed(value)}`;

const confidence = (ci: NonNullable<GateReport["ci"]>) =>
  `${Number((100 * ci.confidence).toFixed(2))}\u00a0%`;

export function differenceCharts(verdict: GateReport, rows: ComparedRows | string): Html {
  const { delta, ci, min_delta: least, margin } = verdict;
  if (delta === null || ci === null)
    return html`<p>${verdict.comparable ? "No example was scored in both runs." : "The runs are not comparable, so no difference was measured."}</p>\n`;
  const difference = intervalFigure({
    title: "Difference",
    subtitle: `candidate minus baseline, ${confidence(ci)} interval`,
    x: { label: isGraded(verdict) ? "mean reward" : "pass rate" },
    estimates: [{ label: "difference", value: delta, low: ci.low, high: ci.high }],
    verticals: linesOf({ margin, least }),
  });
  return html`<div class="charts">
${difference}${typeof rows !== "string" && ratesFigure(verdict, rows)}</div>
<p class="muted">${methods(verdict, rows)}</p>
`;
}

/** Which estimates the intervals are. */
function methods(verdict: GateReport, rows: ComparedRows | string): string {
  const difference =
    verdict.test === "mcnemar_exact"
      ? "The interval of the difference holds what the tests do not rule out"
      : `The interval of the difference is a bootstrap over ${isClustered(verdict.test) ? "prompts" : "pairs of rows"}`;
  if (typeof rows === "string" || isGraded(verdict)) return `${difference}.`;
  const names = [...new Set(rows.rates.map(({ method }) => method))];
  return `${difference}; those of the rates: ${names.join(", ")}.`;
}

function ratesFigure(verdict: GateReport, { rates }: ComparedRows): Html | undefined {
  if (isGraded(verdict)) return undefined;
  const estimates = (["baseline", "candidate"] as const).flatMap((label, i) => {
    const { rate, interval: [low, high] = [] } = rates[i] as RateEstimate;
    if (rate === undefined || low === undefined || high === undefined) return [];
    return [{ label, value: rate, low, high }];
  });
  if (estimates.length === 0) return undefined;
  return intervalFigure({
    title: "Pass rates",
    subtitle: "95 % interval of each run by itself",
    x: { label: "pass rate", range: [0, 1] },
    estimates,
  });
}
