/** Pass rates by slice: a table for each field, with a column for each run where there are several. */

import { visible } from "../../core/visible.ts";
import type { SliceRate } from "../../stats/slice-rates.ts";
import type { Section } from "../page/document.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { grouped, NONE, percent, percentRange } from "../page/numbers.ts";
import type { Named } from "../page/run-names.ts";
import type { ScoredRun } from "./read.ts";

type Runs = readonly Named<ScoredRun>[];

/** Undefined where no run has slices. */
export function slicesSection(runs: Runs): Section | undefined {
  const fields = [...new Set(runs.flatMap(({ run }) => Object.keys(run.slices ?? {})))];
  if (fields.length === 0) return undefined;
  const tables = fields.map((field) => {
    const rates = runs.map(({ run }) => run.slices?.[field] ?? []);
    return rates.length === 1 ? tableOfOne(field, rates[0] ?? []) : tableOfAll(field, runs, rates);
  });
  return { id: "slices", title: "Slices", body: html`${tables}` };
}

function tableOfOne(field: string, rates: readonly SliceRate[]): Html {
  // Where every reward is 0 or 1 the mean is the pass rate.
  const isGraded = rates.some((one) => one.mean_reward !== one.pass_rate);
  const rows = rates.map(
    (one) =>
      html`<tr><th scope="row">${codeHtml(one.value)}</th><td>${grouped(one.n_scored)}</td><td>${rateText(one)}</td><td>${intervalText(one)}</td>${isGraded && html`<td>${meanText(one)}</td>`}</tr>\n`,
  );
  return html`<div class="wide"><table class="plain"><thead><tr><th scope="col">${visible(field)}</th><th scope="col">scored</th><th scope="col">pass rate</th><th scope="col">95 % interval</th>${isGraded && html`<th scope="col">mean reward, 95 % interval</th>`}</tr></thead>
<tbody>
${rows}</tbody></table></div>
`;
}

function tableOfAll(field: string, runs: Runs, rates: readonly (readonly SliceRate[])[]): Html {
  const values = [...new Set(rates.flatMap((run) => run.map(({ value }) => value)))].sort();
  const heads = runs.map(({ name }) => html`<th scope="col">${name}</th>`);
  const rows = values.map((value) => {
    const cells = rates.map((run) => {
      const one = run.find((rate) => rate.value === value);
      return one === undefined
        ? html`<td>${NONE}</td>`
        : html`<td>${rateText(one)} <span class="muted">${intervalText(one)}; ${grouped(one.n_pass)} of ${grouped(one.n_scored)}</span></td>`;
    });
    return html`<tr><th scope="row">${codeHtml(value)}</th>${cells}</tr>\n`;
  });
  return html`<div class="wide"><table class="plain"><thead><tr><th scope="col">${visible(field)}</th>${heads}</tr></thead>
<tbody>
${rows}</tbody></table></div>
`;
}

/** With its interval, which is not that of the pass rate. */
const meanText = ({ mean_reward: mean, mean_reward_ci95: ci }: SliceRate) =>
  mean === null
    ? NONE
    : ci === undefined
      ? mean.toFixed(4)
      : `${mean.toFixed(4)}, ${ci[0].toFixed(3)} to ${ci[1].toFixed(3)}`;
const rateText = ({ pass_rate: rate }: SliceRate) => (rate === null ? NONE : percent(rate));
const intervalText = ({ pass_rate_ci95: ci }: SliceRate) => (ci === null ? NONE : percentRange(ci));
