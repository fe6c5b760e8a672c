/** The samples that a row was selected from. */

import type { ResultRow } from "../../runs/schemas.ts";
import { codeHtml, type Html, html, textHtml } from "../page/html.ts";
import { grouped, many, plain } from "../page/numbers.ts";
import { firstOf } from "../page/row-list.ts";

const SAMPLES_SHOWN = 16;
const MAX_LENGTH = 400;

export function otherSamples({ samples = [], selected }: ResultRow): Html | undefined {
  if (samples.length < 2) return undefined;
  const shown = samples.slice(0, SAMPLES_SHOWN).map(
    ({ completion, reward, outcome_code: code }, i) =>
      html`<p>sample ${grouped(i + 1)}${i === selected?.index && ", selected"} · ${codeHtml(code)} · reward ${plain(reward)}</p>
<pre>${textHtml(completion, MAX_LENGTH)}</pre>
`,
  );
  const rest =
    samples.length > SAMPLES_SHOWN &&
    html`<p class="muted">${firstOf(SAMPLES_SHOWN, samples.length, "sample")} are shown.</p>\n`;
  return html`<details><summary>${many(samples.length, "sample")}</summary>
${shown}${rest}</details>
`;
}
