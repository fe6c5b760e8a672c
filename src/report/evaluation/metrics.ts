/** What an experiment measured besides rewards. */

import type { Json, JsonObject } from "../../core/json.ts";
import { visibleShort } from "../../core/visible.ts";
import type { Section } from "../page/document.ts";
import { flattenJson } from "../page/flatten-json.ts";
import { codeHtml, html } from "../page/html.ts";
import { NONE, plain } from "../page/numbers.ts";
import type { Named } from "../page/run-names.ts";
import type { ScoredRun } from "../scored/read.ts";

/** In the head of every run. */
const KNOWN: ReadonlySet<string> = new Set(
  ["pass_rate", "pass_rate_ci95", "mean_reward", "mean_kl_est", "n_examples"].concat([
    ...["n_scored", "n_pass", "n_fail", "n_missing", "n_scorer_error", "repeats"],
  ]),
);
const MAX_VALUE = 120;

export function metricsSection(runs: readonly Named<ScoredRun>[]): Section | undefined {
  const tables = runs.map(({ run }) => furtherMetrics(run));
  const names = [...new Set(tables.flatMap((table) => [...table.keys()]))];
  if (names.length === 0) return undefined;
  const rows = names.map((name) => {
    const cells = tables.map(
      (table) => html`<td>${visibleShort(table.get(name) ?? NONE, MAX_VALUE)}</td>`,
    );
    return html`<tr><th scope="row">${codeHtml(name)}</th>${cells}</tr>\n`;
  });
  const heads = runs.map(
    ({ name }) => html`<th scope="col">${runs.length > 1 ? name : "value"}</th>`,
  );
  const body = html`<div class="wide"><table><thead><tr><th scope="col">metric</th>${heads}</tr></thead>
<tbody>
${rows}</tbody></table></div>
`;
  return { id: "metrics", title: "Further metrics", body };
}

function furtherMetrics({ summary }: ScoredRun): Map<string, string> {
  const further = Object.entries(summary.metrics as JsonObject).filter(
    (entry): entry is [string, Json] => !KNOWN.has(entry[0]) && entry[1] !== undefined,
  );
  return new Map(further.length === 0 ? [] : flattenJson(Object.fromEntries(further), plain));
}
