/** Examples on which the selected sample passes and the first one does not, or the other way round. */

import { hasPassed } from "../../core/score.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { groupHeading, heading } from "../page/heading.ts";
import { codeHtml, type Html, html, textHtml } from "../page/html.ts";
import { grouped, many, plain } from "../page/numbers.ts";
import { RowGroups } from "../page/row-groups.ts";
import { LEGEND, rowList } from "../page/row-list.ts";
import { completionHtml } from "../scored/rows.ts";

/** Of each direction. */
const ROWS_SHOWN = 10;
const DIRECTIONS = ["rescued", "lost"] as const;
type Direction = (typeof DIRECTIONS)[number];

const WORDS: Record<Direction, string> = {
  rescued: "Rescued: the first sample fails, the selected one passes",
  lost: "Lost: the first sample passes, the selected one fails",
};

export class ChangedRows {
  readonly #groups = new RowGroups(ROWS_SHOWN);
  readonly #level: number;

  constructor(level: number) {
    this.#level = level;
  }

  add(row: ResultRow): void {
    if (row.reward === null || row.baseline === undefined) return;
    const [before, after] = [hasPassed(row.baseline), hasPassed(row)];
    if (before === after) return;
    this.#groups.add(after ? "rescued" : "lost", () => changedRow(row, this.#level + 1));
  }

  get html(): Html {
    const { all } = this.#groups;
    const parts = DIRECTIONS.map((direction) => {
      const group = all.find(({ name }) => name === direction) ?? { count: 0, rows: [] };
      const title = groupHeading(this.#level, WORDS[direction], many(group.count, "row"));
      return html`${title}${group.count === 0 ? html`<p>None.</p>\n` : rowList(group)}`;
    });
    return html`${all.length > 0 && LEGEND}${parts}`;
  }
}

function changedRow(
  { id, prompt, samples, baseline, selected, completion, ...row }: ResultRow,
  level: number,
): Html {
  const first = samples?.[baseline?.index ?? 0];
  return html`<article class="sample">
${heading(level, codeHtml(id))}<pre class="prompt">${textHtml(prompt)}</pre>
<div class="completions"><div><p>first sample · ${codeHtml(baseline?.outcome_code ?? "")} · reward ${plain(baseline?.reward)}</p>
${completionHtml(first?.completion ?? null)}</div><div><p>selected, sample ${grouped((selected?.index ?? 0) + 1)} · ${codeHtml(row.outcome_code)} · reward ${plain(row.reward)}</p>
${completionHtml(completion)}</div></div>
</article>
`;
}
