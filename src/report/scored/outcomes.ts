/** Outcome codes with their counts, one column for each run. */

import { barTable } from "../page/bars.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { many } from "../page/numbers.ts";
import type { Named } from "../page/run-names.ts";
import type { ScoredRun } from "./read.ts";

const SHOWN = 40;

export function outcomeTable(runs: readonly Named<ScoredRun>[]): Html {
  const counts = runs.map(({ run }) => new Map(run.outcomes.map((one) => [one.code, one])));
  const total = new Map<string, number>();
  for (const { run } of runs)
    for (const { code, count } of run.outcomes) total.set(code, (total.get(code) ?? 0) + count);
  const codes = [...total].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const hasPassed = (code: string) => counts.some((run) => (run.get(code)?.passed ?? 0) > 0);
  const rows = codes.slice(0, SHOWN).map(([code]) => ({
    label: html`${codeHtml(code)}${hasPassed(code) && html` <span class="chip good">passes</span>`}`,
    counts: counts.map((run) => run.get(code)?.count ?? 0),
  }));
  const rest =
    codes.slice(SHOWN).reduce((sum, [, count]) => sum + count, 0) +
    runs.reduce((sum, { run }) => sum + run.otherOutcomes, 0);
  const columns = runs.map(({ name }) => (runs.length > 1 ? name : "rows"));
  return html`${barTable(
    "outcome code",
    columns,
    runs.map(({ run }) => run.rows),
    rows,
  )}${rest > 0 && html`<p class="muted">${many(rest, "row")} with less common codes.</p>\n`}`;
}
