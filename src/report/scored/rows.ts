/** Rows that failed, by outcome code: prompt, completion, expected answer and the scorer's reason. */

import { canonicalJson } from "../../core/json.ts";
import { hasPassed } from "../../core/score.ts";
import { visible } from "../../core/visible.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { groupHeading, heading } from "../page/heading.ts";
import { codeHtml, type Html, html, textHtml } from "../page/html.ts";
import { many, plain } from "../page/numbers.ts";
import { RowGroups } from "../page/row-groups.ts";
import { LEGEND, rowList } from "../page/row-list.ts";
import { reasonOf } from "../reason.ts";

/** Of each outcome code. */
const ROWS_SHOWN = 10;
const CODES_SHOWN = 30;
const REASON_WIDTH = 400;

/** Collects the first failing rows of each code. */
export class FailingRows {
  readonly #groups = new RowGroups(ROWS_SHOWN);
  readonly #level: number;
  readonly #show: (row: ResultRow) => Html | undefined;

  /** `level` is that of the codes' headings; `more` is shown below a row. */
  constructor(level: number, more: (row: ResultRow) => Html | undefined = () => undefined) {
    this.#level = level;
    this.#show = more;
  }

  add(row: ResultRow): void {
    if (hasPassed(row)) return;
    this.#groups.add(row.outcome_code, () => failingRow(row, this.#level + 1, this.#show(row)));
  }

  get html(): Html {
    const { all, others } = this.#groups;
    if (all.length === 0) return html`<p>No row failed.</p>\n`;
    const groups = all
      .slice(0, CODES_SHOWN)
      .map(
        (group) =>
          html`${groupHeading(this.#level, codeHtml(group.name), many(group.count, "row"))}${rowList(group)}`,
      );
    const hidden = all.slice(CODES_SHOWN).reduce((sum, { count }) => sum + count, others);
    const rest =
      hidden > 0 &&
      html`<p class="muted">${many(hidden, "row")} with less common codes are not shown.</p>\n`;
    return html`${LEGEND}${groups}${rest}`;
  }
}

function failingRow(row: ResultRow, level: number, more: Html | undefined): Html {
  const { prompt, completion, reward, expected_answer: expected } = row;
  return html`<article class="sample">
${heading(level, rowName(row))}${reasonHtml(row, REASON_WIDTH)}<pre class="prompt">${textHtml(prompt)}</pre>
<div class="completions"><div><p>completion · reward ${plain(reward)}</p>
${completionHtml(completion)}</div><div><p>expected</p>
<pre>${textHtml(typeof expected === "string" ? expected : canonicalJson(expected ?? null))}</pre></div></div>
${more}${detailsHtml(row)}</article>
`;
}

/** The id; of one of several samples also its number. */
export const rowName = ({ id, sample }: ResultRow): Html =>
  html`${codeHtml(id)}${sample !== undefined && ` sample ${sample + 1}`}`;

/** Nothing where the scorer gave no details. */
export function reasonHtml(row: ResultRow, width: number): Html | undefined {
  const hasDetails = Object.keys(Object(row.details ?? {})).length > 0;
  return hasDetails ? html`<p class="reason">${reasonOf(row, width)}</p>\n` : undefined;
}

export const completionHtml = (completion: string | null): Html =>
  completion === null
    ? html`<p class="muted">no completion</p>`
    : html`<pre>${textHtml(completion)}</pre>`;

/** All that the scorer said, where its reason is not all of it. */
function detailsHtml({ details }: ResultRow): Html | undefined {
  const isMore =
    typeof details === "object" &&
    details !== null &&
    Object.keys(details).some((key) => key !== "message");
  if (!isMore) return undefined;
  const lines = JSON.stringify(details, null, 2).slice(0, MAX_DETAILS).split("\n");
  return html`<details><summary>Details of the score</summary>
<pre>${lines.map((line) => `${visible(line)}\n`)}</pre></details>
`;
}

const MAX_DETAILS = 4000;
