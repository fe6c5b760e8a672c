/** The axes of evaluations: means with intervals, codes, and rows that fail. */

import { visible } from "../../core/visible.ts";
import type { Manifest, Summary } from "../../runs/schemas.ts";
import type { ModeFinding } from "../failures/rows/failure-modes.ts";
import { failureTable } from "../failures/rows/table.ts";
import { perRun, type Section } from "../page/document.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { grouped, NONE } from "../page/numbers.ts";
import type { Named } from "../page/run-names.ts";

/** What a run needs for the two sections. */
export interface MeasuredOnAxes {
  readonly manifest: Manifest;
  readonly summary: Summary;
  readonly failingOnAxes: Html | undefined;
  readonly modes: readonly ModeFinding[];
}

/** Undefined where no run has axes. */
export function axesSection(runs: readonly Named<MeasuredOnAxes>[]): Section | undefined {
  if (runs.every(({ run }) => run.summary.axes === undefined)) return undefined;
  const body = perRun(runs, ({ run }) => html`${tableOf(run)}${run.failingOnAxes}`);
  return { id: "axes", title: "Axes", body };
}

function tableOf({ manifest, summary: { axes = {} } }: MeasuredOnAxes): Html {
  const scorers = new Map((manifest.axes ?? []).map(({ name, scorer }) => [name, scorer]));
  const rows = Object.entries(axes).map(([name, { mean, ci95, scored, errors, codes }]) => {
    const scorer = scorers.get(name);
    const counts = Object.entries(codes).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    const list = counts.map(([code, count]) => html`${codeHtml(code)} ${grouped(count)}<br>`);
    return html`<tr><th scope="row">${codeHtml(name)}</th><td>${mean?.toFixed(4) ?? NONE}</td><td>${ci95 ? `${ci95[0].toFixed(4)} to ${ci95[1].toFixed(4)}` : NONE}</td><td>${grouped(scored)}</td><td>${grouped(errors)}</td><td>${list}</td><td>${scorer && html`${codeHtml(`${scorer.name} ${scorer.version}`)}: ${visible(scorer.spec)}`}</td></tr>
`;
  });
  return html`<p>Each axis is a second scorer, measured on the same rows; 1 is best. The gate asks that none of them falls.</p>
<div class="wide"><table class="plain"><thead><tr><th scope="col">axis</th><th scope="col">mean</th><th scope="col">95 % interval</th><th scope="col">scored</th><th scope="col">errors</th><th scope="col">codes</th><th scope="col">scorer</th></tr></thead>
<tbody>
${rows}</tbody></table></div>
`;
}

/** Of evaluations: the rows of a tabular experiment hold no text. */
export function failureSection(runs: readonly Named<MeasuredOnAxes>[]): Section | undefined {
  if (runs.every(({ run }) => run.manifest.loop !== "A")) return undefined;
  return {
    id: "failure-table",
    title: "Failure table",
    body: perRun(runs, ({ run }) => failureTable(run.modes)),
  };
}
