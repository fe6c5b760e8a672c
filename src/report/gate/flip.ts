/** One example on which the runs differ: both completions side by side. */

import { canonicalJson } from "../../core/json.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { heading } from "../page/heading.ts";
import { codeHtml, type Html, html, textHtml } from "../page/html.ts";
import { plain } from "../page/numbers.ts";
import { completionHtml, reasonHtml, rowName } from "../scored/rows.ts";

const REASON_WIDTH = 200;

export function flipArticle(was: ResultRow, is: ResultRow): Html {
  const expected = is.expected_answer ?? null;
  return html`<article class="sample">
${heading(4, rowName(is))}<pre class="prompt">${textHtml(is.prompt)}</pre>
<p class="reason muted">expected ${codeHtml(canonicalJson(expected).slice(0, REASON_WIDTH))}</p>
<div class="completions">${side("baseline", was)}${side("candidate", is)}</div>
</article>
`;
}

function side(name: string, row: ResultRow): Html {
  return html`<div><p>${name} · ${codeHtml(row.outcome_code)} · reward ${plain(row.reward)}</p>
${completionHtml(row.completion)}${reasonHtml(row, REASON_WIDTH)}</div>`;
}
