/** The answers to one example, with how each ended. */

import { visible } from "../../core/visible.ts";
import type { AnswerPack, ReadAnswer } from "../../runs/rollout-answers.ts";
import { heading } from "../page/heading.ts";
import { codeHtml, type Html, html, textHtml } from "../page/html.ts";
import { grouped, many } from "../page/numbers.ts";
import { firstOf } from "../page/row-list.ts";

const ANSWERS_SHOWN = 4;

export function answerArticle(
  { id, answers }: AnswerPack,
  prompt: string | undefined,
  level: number,
): Html {
  const rest =
    answers.length > ANSWERS_SHOWN &&
    html`<p class="muted">${firstOf(ANSWERS_SHOWN, answers.length, "completion")} are shown.</p>\n`;
  return html`<article class="sample">
${heading(level, codeHtml(id))}${prompt !== undefined && html`<pre class="prompt">${textHtml(prompt)}</pre>\n`}<div class="completions">${answers.slice(0, ANSWERS_SHOWN).map(answerHtml)}</div>
${rest}</article>
`;
}

function answerHtml({ completion, finish, completion_tokens: tokens, refusal }: ReadAnswer): Html {
  const length =
    tokens === null ? many(completion.length, "character") : `${grouped(tokens)} tokens`;
  return html`<div><p>${codeHtml(finish)} · ${length}</p>
<pre>${textHtml(completion)}</pre>${refusal !== undefined && html`<p>refusal: ${visible(refusal.slice(0, 400))}</p>`}</div>`;
}
