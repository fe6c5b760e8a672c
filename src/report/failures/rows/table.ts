/** The failure table of one run, or of the two runs of a verdict. */

import { visible } from "../../../core/visible.ts";
import { codeHtml, type Html, html } from "../../page/html.ts";
import { NONE, percent } from "../../page/numbers.ts";
import { statusChip } from "../status.ts";
import type { ModeFinding } from "./failure-modes.ts";

export function failureTable(findings: readonly ModeFinding[]): Html {
  const rows = findings.map(
    ({ name, status, measured, numbers, ids }) => html`<tr><th scope="row">${name}</th>
<td>${statusChip(status)}</td>
<td>${numbers.map((sentence) => html`<p>${visible(sentence)}</p>`)}</td>
<td>${ids.length > 0 ? ids.map((id) => html`${codeHtml(id)} `) : NONE}</td>
<td>${measured}</td></tr>
`,
  );
  return html`<p>A run by itself shows how common a failure is; whether it became more common is a comparison of two runs.</p>
<div class="wide"><table class="failures">
<thead><tr><th scope="col">failure</th><th scope="col">status</th><th scope="col">numbers</th><th scope="col">first rows</th><th scope="col">measured by</th></tr></thead>
<tbody>
${rows}</tbody></table></div>
`;
}

/** Shares of rows before and after. */
export function failureComparison(
  baseline: readonly ModeFinding[],
  candidate: readonly ModeFinding[],
): Html {
  const rows = baseline.map((before, i) => {
    const after = candidate[i] as ModeFinding;
    const [was, is] = [shareOf(before), shareOf(after)];
    const change = was === undefined || is === undefined ? NONE : changeOf(is - was);
    return html`<tr><th scope="row">${before.name}</th><td>${shown(was)}</td><td>${shown(is)}</td><td>${change}</td><td>${after.numbers.map((sentence) => html`<p>${visible(sentence)}</p>`)}</td><td>${after.measured}</td></tr>
`;
  });
  return html`<p>Shares of rows that show each failure; of mode collapse, the share of the commonest completion. The gate compares only axes that both runs were evaluated with.</p>
<div class="wide"><table class="failures compared">
<thead><tr><th scope="col">failure</th><th scope="col">baseline</th><th scope="col">candidate</th><th scope="col">change</th><th scope="col">candidate in numbers</th><th scope="col">measured by</th></tr></thead>
<tbody>
${rows}</tbody></table></div>
`;
}

const shareOf = ({ rows, of }: ModeFinding): number | undefined =>
  of === 0 ? undefined : rows / of;
const shown = (share: number | undefined): string => (share === undefined ? NONE : percent(share));
const changeOf = (change: number): string =>
  `${change < 0 ? "−" : "+"}${(100 * Math.abs(change)).toFixed(1)} points`;
