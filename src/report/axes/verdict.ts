/** The axes of a verdict: each difference with its interval and margin. */

import { visible } from "../../core/visible.ts";
import { pText, SLICE_STATES, signed } from "../../gate/words.ts";
import type { GateReport } from "../../runs/gate-report.ts";
import type { Section } from "../page/document.ts";
import { codeHtml, html } from "../page/html.ts";
import { grouped, NONE } from "../page/numbers.ts";

/** Undefined where the runs have no axes. */
export function axesOfVerdict({ axes }: GateReport): Section | undefined {
  if (!axes) return undefined;
  const { without_axes: alone, refused_by: worse } = axes;
  const rows = axes.values.map(
    (one) =>
      html`<tr><th scope="row">${codeHtml(one.name)}</th><td>${grouped(one.n)}</td><td>${one.baseline.toFixed(4)}</td><td>${one.candidate.toFixed(4)}</td><td>${one.delta === null ? NONE : signed(one.delta)}</td><td>${one.ci === null ? NONE : `${signed(one.ci.low)} to ${signed(one.ci.high)}`}</td><td>${one.margin}</td><td>${pText(one.p_holm)}</td><td>${SLICE_STATES[one.state]}</td></tr>\n`,
  );
  const refused = worse.length > 0 && html`<p>Worse on ${visible(worse.join(", "))}.</p>\n`;
  return {
    id: "axes",
    title: "Axes",
    body: html`<p>By the main reward alone: <strong>${alone}</strong>. On each axis a loss of its margin must be ruled out; p-values are corrected for the number of axes (Holm).</p>
${refused}<div class="wide"><table class="plain"><thead><tr><th scope="col">axis</th><th scope="col">rows</th><th scope="col">baseline</th><th scope="col">candidate</th><th scope="col">difference</th><th scope="col">interval</th><th scope="col">margin</th><th scope="col">p (Holm)</th><th scope="col">finding</th></tr></thead>
<tbody>
${rows}</tbody></table></div>
`,
  };
}
