/** What a run took: tokens, seconds by what they went to, and money at a stated rate. */

import type { TrainingRun, TrainingTiming } from "../../runs/training-records.ts";
import { type Html, html } from "./html.ts";
import type { Named } from "./named.ts";
import { duration, grouped, NONE, percent } from "./numbers.ts";
import { totalOf } from "./series.ts";

export interface Cost {
  readonly trained: number;
  readonly sampled: number;
  /** By what they went to; undefined where the run has no timing. */
  readonly seconds: Record<Work, number> | undefined;
  readonly total: number | undefined;
  readonly money: number | undefined;
}

const WORK = ["sampling", "scoring", "logprobs", "updating", "evaluating"] as const;
type Work = (typeof WORK)[number];

export function costOf(run: TrainingRun, pricePerHour: number | undefined): Cost {
  const seconds = run.timing.length === 0 ? undefined : secondsOf(run.timing);
  const total = seconds && WORK.reduce((sum, work) => sum + seconds[work], 0);
  const isPriced = total !== undefined && pricePerHour !== undefined;
  return {
    trained: totalOf(run, "tokens") || (run.summary?.tokens ?? 0),
    sampled: totalOf(run, "sampled_tokens"),
    seconds,
    total,
    money: isPriced ? (total / 3600) * pricePerHour : undefined,
  };
}

function secondsOf(timing: readonly TrainingTiming[]): Record<Work, number> {
  const sum = (work: Work) => timing.reduce((total, row) => total + row[`${work}_s`], 0);
  return {
    sampling: sum("sampling"),
    scoring: sum("scoring"),
    logprobs: sum("logprobs"),
    updating: sum("updating"),
    evaluating: sum("evaluating"),
  };
}

export function costSection(runs: readonly Named[], pricePerHour: number | undefined): Html {
  const costs = runs.map(({ run }) => costOf(run, pricePerHour));
  const row = (label: string, read: (cost: Cost) => string | Html) =>
    html`<tr><th scope="row">${label}</th>${costs.map((cost) => html`<td>${read(cost)}</td>`)}</tr>\n`;
  const head = runs.map(({ name }) => html`<th scope="col">${name}</th>`);
  const isTimed = costs.some(({ seconds }) => seconds !== undefined);
  return html`<div class="wide"><table>
<thead><tr><td></td>${head}</tr></thead>
<tbody>
${row("tokens sampled", ({ sampled }) => (sampled > 0 ? grouped(sampled) : NONE))}${row(
  "tokens trained on",
  ({ trained }) => (trained > 0 ? grouped(trained) : NONE),
)}${isTimed && WORK.map((work) => row(work, (cost) => split(cost, work)))}${row(
  "time altogether",
  ({ total }) => (total === undefined ? "not measured" : duration(total)),
)}${row("money", ({ money }) => (money === undefined ? "not stated" : moneyText(money)))}</tbody>
</table></div>
<p class="muted">${
    pricePerHour === undefined
      ? "No price was stated; --price-per-hour turns the time into money."
      : `At a stated price of ${pricePerHour} an hour, in the currency of that price.`
  }${!isTimed && " No run has a timing.jsonl, so no time is known."}</p>
`;
}

const BAR = 80;

function split({ seconds, total = 0 }: Cost, work: Work): string | Html {
  if (seconds === undefined) return NONE;
  const share = total === 0 ? 0 : seconds[work] / total;
  const width = (BAR * share).toFixed(1);
  return html`<span class="time">${duration(seconds[work])} <span class="muted">${percent(share)}</span>
<svg class="bar" width="${BAR}" height="8" viewBox="0 0 ${BAR} 8" aria-hidden="true"><rect class="rest" width="${BAR}" height="8"/><rect width="${width}" height="8"/></svg></span>`;
}

export const moneyText = (money: number): string =>
  money >= 0.01 || money === 0 ? money.toFixed(2) : money.toPrecision(1);
