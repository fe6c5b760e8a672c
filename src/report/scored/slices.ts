/** Pass rates by slice, a table for each field. */

import { visible } from "../../core/visible.ts";
import { perRun, type Section } from "../page/document.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { grouped, NONE, percent, percentRange } from "../page/numbers.ts";
import type { Named } from "../page/run-names.ts";
import type { ScoredRun } from "./read.ts";

/** Undefined where no run has slices. */
export function slicesSection(runs: readonly Named<ScoredRun>[]): Section | undefined {
  if (runs.every(({ run }) => run.slices === undefined)) return undefined;
  const body = perRun(runs, ({ run }) => html`${tablesOf(run.slices ?? {})}`);
  return { id: "slices", title: "Slices", body };
}

function tablesOf(slices: NonNullable<ScoredRun["slices"]>): Html[] {
  return Object.entries(slices).map(
    ([
      field,
      values,
    ]) => html`<div class="wide"><table class="plain"><thead><tr><th scope="col">${visible(field)}</th><th scope="col">scored</th><th scope="col">pass rate</th><th scope="col">95 % interval</th><th scope="col">mean reward</th></tr></thead>
<tbody>
${values.map(
  (one) =>
    html`<tr><th scope="row">${codeHtml(one.value)}</th><td>${grouped(one.n_scored)}</td><td>${one.pass_rate === null ? NONE : percent(one.pass_rate)}</td><td>${one.pass_rate_ci95 === null ? NONE : percentRange(one.pass_rate_ci95)}</td><td>${one.mean_reward?.toFixed(4) ?? NONE}</td></tr>\n`,
)}</tbody></table></div>
`,
  );
}
