/** One example on which the runs differ: both completions side by side. */

import { canonicalJson } from "../../core/json.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { heading } from "../page/heading.ts";
import { codeHtml, type Html, html, textHtml } from "../page/html.ts";
import { plain } from "../page/numbers.ts";
import { completionHtml, reasonHtml, rowName } from "../scored/rows.ts";

const REASON_WIDTH = 200;

export function flipArticle(was: ResultRow, is: ResultRow): Html {
  return html`<article class="sample">
${heading(4, rowName(is))}<pre class="prompt">${textHtml(is.prompt)}</pre>
${expectedHtml(is)}<div class="completions">${side("baseline", was)}${side("candidate", is)}</div>
</article>
`;
}

/** An episode has a code, and no answer that was expected. */
function expectedHtml({ expected_answer: expected, episode }: ResultRow): Html | undefined {
  if (episode !== undefined) return undefined;
  return html`<p class="reason muted">expected ${codeHtml(canonicalJson(expected ?? null).slice(0, REASON_WIDTH))}</p>\n`;
}

function side(name: string, row: ResultRow): Html {
  return html`<div><p>${name} · ${codeHtml(row.outcome_code)} · reward ${plain(row.reward)}</p>
${completionHtml(row.completion)}${reasonHtml(row, REASON_WIDTH)}</div>`;
}
