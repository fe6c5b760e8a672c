/** Cost of a run: tokens, time by phase, and money at a given price per hour. */

import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import {
  type JudgeUsed,
  judgeUsed,
  PHASES,
  type Phase,
  secondsByPhase,
  tokensUsed,
  totalSeconds,
} from "../../runs/training-cost.ts";
import type { Prices } from "../business/business.ts";
import { type Html, html } from "../page/html.ts";
import { duration, grouped, moneyText, NONE, percent } from "../page/numbers.ts";
import type { NamedRun } from "./run-names.ts";

export interface Cost {
  readonly trained: number;
  readonly sampled: number;
  /** By phase; undefined where the run has no timing. */
  readonly seconds: Record<Phase, number> | undefined;
  readonly total: number | undefined;
  readonly money: number | undefined;
  /** What the judge was asked, and its dollars; undefined where no judge rewards. */
  readonly judge: JudgeUsed | undefined;
}

export function costOf(
  run: TrainingRunRecords,
  pricePerHour: number | undefined,
  prices?: Prices | undefined,
): Cost {
  const isTimed = run.timing.length > 0;
  const seconds = isTimed ? secondsByPhase(run) : undefined;
  const total = isTimed ? totalSeconds(run) : undefined;
  const { trained, sampled } = tokensUsed(run);
  const isPriced = total !== undefined && pricePerHour !== undefined;
  return {
    trained: trained || (run.summary?.tokens ?? 0),
    sampled,
    seconds,
    total,
    judge: judgeCost(run, prices),
    money: isPriced ? (total / 3600) * pricePerHour : undefined,
  };
}

export function costSection(
  runs: readonly NamedRun[],
  pricePerHour: number | undefined,
  prices?: Prices | undefined,
): Html {
  const costs = runs.map(({ run }) => costOf(run, pricePerHour, prices));
  const row = (label: string, read: (cost: Cost) => string | Html) =>
    html`<tr><th scope="row">${label}</th>${costs.map((cost) => html`<td>${read(cost)}</td>`)}</tr>\n`;
  const head = runs.map(({ name }) => html`<th scope="col">${name}</th>`);
  const judgeRow = (label: string, read: (used: JudgeUsed) => string) =>
    costs.some(({ judge }) => judge) && row(label, ({ judge }) => (judge ? read(judge) : NONE));
  const isTimed = costs.some(({ seconds }) => seconds !== undefined);
  return html`<div class="wide"><table>
<thead><tr><td></td>${head}</tr></thead>
<tbody>
${row("tokens sampled", ({ sampled }) => (sampled > 0 ? grouped(sampled) : NONE))}${row(
  "tokens trained on",
  ({ trained }) => (trained > 0 ? grouped(trained) : NONE),
)}${isTimed && PHASES.map((phase) => row(phase, (cost) => phaseCell(cost, phase)))}${row(
  "total time",
  ({ total }) => (total === undefined ? "not measured" : duration(total)),
)}${row("money", ({ money }) => (money === undefined ? "not stated" : moneyText(money)))}${judgeRow(
  "judge: tokens read",
  ({ prompt }) => grouped(prompt),
)}${judgeRow("judge: tokens written", ({ completion }) => grouped(completion))}${judgeRow(
  "judge: dollars",
  ({ dollars }) => (dollars === null ? "not stated" : moneyText(dollars)),
)}</tbody>
</table></div>
<p class="muted">${
    pricePerHour === undefined
      ? "No price given. Use --price-per-hour to show the cost in money."
      : `At ${pricePerHour} per hour, in the currency of that price.`
  }${judgeNote(costs)}${!isTimed && " No run has a timing.jsonl, so the time is not known."}</p>
`;
}

/** The price that the run was given, or else the one that the page is given. */
function judgeCost(run: TrainingRunRecords, prices: Prices | undefined): JudgeUsed | undefined {
  const used = judgeUsed(run);
  if (!used || used.dollars !== null || !prices) return used;
  const dollars = (used.prompt * prices.in + used.completion * prices.out) / 1_000_000;
  return { ...used, dollars };
}

function judgeNote(costs: readonly Cost[]): string {
  const judges = costs.flatMap(({ judge }) => (judge ? [judge] : []));
  if (judges.length === 0) return "";
  const unpriced = judges.some(({ dollars }) => dollars === null)
    ? " Give train --judge-price, or the page --price-in and --price-out, to show what the judge cost."
    : "";
  return ` Tokens of the judge count whether an answer came from its cache or not.${unpriced}`;
}

const BAR = 80;

function phaseCell({ seconds, total = 0 }: Cost, phase: Phase): string | Html {
  if (seconds === undefined) return NONE;
  const share = total === 0 ? 0 : seconds[phase] / total;
  const width = (BAR * share).toFixed(1);
  return html`<span class="time">${duration(seconds[phase])} <span class="muted">${percent(share)}</span>
<svg class="bar" width="${BAR}" height="8" viewBox="0 0 ${BAR} 8" aria-hidden="true"><rect class="rest" width="${BAR}" height="8"/><rect width="${width}" height="8"/></svg></span>`;
}
