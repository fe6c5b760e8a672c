/** Rows that fail on an axis: the first two of each code. */

import { visible } from "../../core/visible.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { groupHeading, heading } from "../page/heading.ts";
import { codeHtml, type Html, html, textHtml } from "../page/html.ts";
import { many, plain } from "../page/numbers.ts";
import { RowGroups } from "../page/row-groups.ts";
import { LEGEND, rowList } from "../page/row-list.ts";
import { completionHtml } from "../scored/rows.ts";

const ROWS_SHOWN = 2;

export class AxisRows {
  readonly #groups = new RowGroups(ROWS_SHOWN);
  readonly #level: number;

  /** `level` is that of the codes' headings. */
  constructor(level: number) {
    this.#level = level;
  }

  add(row: ResultRow): void {
    for (const [name, score] of Object.entries(row.axes ?? {})) {
      if (score.reward !== null && score.reward >= 1) continue;
      this.#groups.add(`${name}: ${score.code}`, () => article(row, score, this.#level + 1));
    }
  }

  /** Undefined where no row fails. */
  get html(): Html | undefined {
    const { all } = this.#groups;
    if (all.length === 0) return undefined;
    const groups = all.map(
      (group) =>
        html`${groupHeading(this.#level, codeHtml(group.name), many(group.count, "row"))}${rowList(group)}`,
    );
    return html`${LEGEND}${groups}`;
  }
}

type Score = NonNullable<ResultRow["axes"]>[string];

function article({ id, prompt, completion }: ResultRow, score: Score, level: number): Html {
  const { reward, message } = score;
  return html`<article class="sample">
${heading(level, codeHtml(id))}${message !== undefined && html`<p class="reason">${visible(message)}</p>\n`}<pre class="prompt">${textHtml(prompt)}</pre>
<div class="completions"><div><p>completion · reward on the axis ${plain(reward)}</p>
${completionHtml(completion)}</div></div>
</article>
`;
}
