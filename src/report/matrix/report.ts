/** The page about a matrix: prompts by models, differences from the baseline, slices. */

import path from "node:path";
import { visible } from "../../core/visible.ts";
import { pCell } from "../../gate/words.ts";
import { type MatrixReport, readMatrixReport } from "../../runs/matrix-report.ts";
import { documentHtml, type Section } from "../page/document.ts";
import { headArticle } from "../page/head.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { intervalFigure } from "../page/interval-chart.ts";
import { many, NONE, percent, plain, signed } from "../page/numbers.ts";
import type { Report } from "../report-type.ts";

type Side = Pick<MatrixReport["runs"][number], "run" | "pass_rate" | "mean_reward">;

export async function matrixReport(dir: string): Promise<Report> {
  const matrix = await readMatrixReport(dir);
  const { baseline, runs, metric } = matrix;
  const name = visible(path.basename(path.resolve(dir)));
  const compared = runs.filter(({ delta }) => delta !== null).length;
  const status = `${many(runs.length + 1, "cell")}, ${compared} compared with ${nameOf(baseline)}`;
  const best = [...runs].sort((a, b) => (b.delta ?? -Infinity) - (a.delta ?? -Infinity))[0];
  const head = headArticle({
    ...{ name: undefined, word: "Matrix", sentence: `${status}.` },
    warnings: runs.flatMap((run) =>
      run.refused.map(({ message }) => `${nameOf(run)} is not comparable: ${message}`),
    ),
    verification: undefined,
    figures: [
      { label: `Baseline, ${metric}`, value: shown(matrix, baseline), note: nameOf(baseline) },
      ...(best && best.delta !== null
        ? [{ label: "Largest change", value: signed(best.delta), note: nameOf(best) }]
        : []),
    ],
    facts: [["baseline", codeHtml(baseline.run)]],
  });
  const sections = [cellsSection(matrix), differencesSection(matrix), ...sliceSections(matrix)];
  return {
    html: documentHtml({
      title: `Matrix report: ${name}`,
      heads: [head],
      sections: sections.filter((section) => section !== undefined),
    }),
    runs: [{ name, status }],
  };
}

/** PROMPT.MODEL, the folder that the run is in; neither name has a dot. */
const nameOf = ({ run }: Pick<Side, "run">) => visible(path.basename(path.dirname(run)));

const figureOf = ({ metric }: MatrixReport, side: Side) =>
  metric === "pass rate" ? side.pass_rate : side.mean_reward;

function shown(matrix: MatrixReport, side: Side): string {
  const figure = figureOf(matrix, side);
  if (figure === null) return NONE;
  return matrix.metric === "pass rate" ? percent(figure) : plain(figure);
}

/** A row for each prompt and a column for each model, darker where the figure is higher. */
function cellsSection(matrix: MatrixReport): Section {
  const all: readonly Side[] = [matrix.baseline, ...matrix.runs];
  const cells = new Map(all.map((side) => [nameOf(side), side]));
  const part = (at: 0 | 1) => [
    ...new Set([...cells.keys()].map((name) => name.split(".")[at] ?? "")),
  ];
  const figures = all.flatMap((side) => figureOf(matrix, side) ?? []);
  const [low, high] = [Math.min(...figures), Math.max(...figures)];
  const cell = (name: string): Html => {
    const side = cells.get(name);
    const figure = side && figureOf(matrix, side);
    if (!side || figure === null || figure === undefined) return html`<td>${NONE}</td>`;
    const shade = high > low ? Math.round((40 * (figure - low)) / (high - low)) : 0;
    const mark = side === matrix.baseline ? " (baseline)" : "";
    return html`<td style="background: color-mix(in srgb, var(--good) ${shade}%, transparent)">${shown(matrix, side)}${mark}</td>`;
  };
  const models = part(1);
  const rows = part(0).map(
    (prompt) =>
      html`<tr><th scope="row">${codeHtml(prompt)}</th>${models.map((model) => cell(`${prompt}.${model}`))}</tr>\n`,
  );
  const body = html`<p>${matrix.metric} of each prompt (rows) with each model (columns).</p>
${table("prompt", models, rows)}`;
  return { id: "cells", title: "Prompts and models", body };
}

function differencesSection(matrix: MatrixReport): Section | undefined {
  const { runs, metric } = matrix;
  if (runs.length === 0) return undefined;
  const rows = runs.map((run) => {
    const { delta, ci, p_holm: p, changed, refused } = run;
    const cells =
      delta === null || ci === null || p === null
        ? [`not comparable: ${refused[0]?.code ?? "nothing scored"}`, NONE, NONE, NONE]
        : [
            ...[signed(delta), `${signed(ci.low)} to ${signed(ci.high)}`, pCell(p)],
            changed.join(", ") || "nothing",
          ];
    return html`<tr><th scope="row">${codeHtml(nameOf(run))}</th><td>${shown(matrix, run)}</td>${cells.map((text) => html`<td>${text}</td>`)}</tr>\n`;
  });
  const estimates = runs.flatMap(({ delta, ci, ...run }) =>
    delta === null || ci === null
      ? []
      : [{ label: nameOf(run), value: delta, low: ci.low, high: ci.high }],
  );
  const chart =
    estimates.length > 0 &&
    intervalFigure({
      title: "Differences from the baseline",
      subtitle: "paired by example; intervals are not adjusted for multiple comparisons",
      x: { label: `difference in ${metric}` },
      estimates,
      verticals: [{ x: 0, label: "no change" }],
    });
  const body = html`${chart && html`<div class="charts">\n${chart}</div>\n`}${table("cell", [metric, "difference", "interval", "p (Holm)", "changed"], rows)}`;
  return { id: "differences", title: "Differences", body };
}

function sliceSections({ slices = [], metric }: MatrixReport): Section[] {
  return slices.map(({ field, values, rows }, i) => ({
    id: `slice-${i + 1}`,
    title: `By ${visible(field)}`,
    body: html`<p>${metric} in each slice. To test a slice, use <code>gate --slice</code>.</p>
${table(
  "cell",
  values.map(visible),
  rows.map(
    ({ figures, ...run }) =>
      html`<tr><th scope="row">${codeHtml(nameOf(run))}</th>${figures.map((one) => html`<td>${one === null ? NONE : one.toFixed(4)}</td>`)}</tr>\n`,
  ),
)}`,
  }));
}

function table(first: string, heads: readonly string[], rows: readonly Html[]): Html {
  return html`<div class="wide"><table class="plain"><thead><tr><th scope="col">${first}</th>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table></div>
`;
}
