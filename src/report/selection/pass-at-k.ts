/** pass@k against k, and why its first value is not the pass rate of the first samples. */

import { chartFigure } from "../page/chart-figure.ts";
import type { Section } from "../page/document.ts";
import { html } from "../page/html.ts";
import { percent } from "../page/numbers.ts";
import type { Named } from "../page/run-names.ts";
import { passRateOf } from "../scored/head.ts";
import type { SelectionRun } from "./read.ts";

export function passAtKSection(runs: readonly Named<SelectionRun>[]): Section | undefined {
  const series = runs.map(({ name, run }) => ({
    label: runs.length > 1 ? name : "pass@k, unbiased",
    points: run.passAtK.map(({ k, value }) => ({ x: k, y: value })),
  }));
  if (series.every(({ points }) => points.length === 0)) return undefined;
  const chart = chartFigure(
    {
      title: "pass@k against k",
      subtitle: "chance that at least one of k samples passes",
      x: { label: "k", unit: "samples", integer: true },
      y: { label: "pass@k", unit: "share of examples", range: [0, 1] },
      series,
    },
    series,
    "k",
  );
  const body = html`<div class="charts">
${chart}</div>
${runs.map(({ name, run }) => html`<p>${runs.length > 1 && `${name}: `}${explanation(run)}</p>\n`)}`;
  return { id: "pass-at-k", title: "pass@k", body };
}

/** Two estimates of one chance look like a contradiction where nobody says what they are. */
function explanation(run: SelectionRun): string {
  const first = run.summary.metrics.pass_at_1;
  const [one] = run.passAtK;
  if (typeof first !== "number" || one === undefined) return "No sample was scored.";
  return `pass@1 is ${percent(first)} on the first sample of each example, and ${percent(one.value)} on average over all samples. Both estimate the same chance; the second uses every sample, so it varies less from draw to draw.${atN(run)}`;
}

function atN(run: SelectionRun): string {
  const n = run.manifest.selection?.n;
  const unbiased = run.passAtK.find(({ k }) => k === n);
  const selected = passRateOf(run);
  if (n === 1 || unbiased === undefined || selected === undefined) return "";
  return ` Of the samples that were selected, ${percent(selected)} pass; pass@${n} over all samples is ${percent(unbiased.value)}.`;
}
