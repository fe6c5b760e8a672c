/** How the runs were set up: where they differ, and each manifest whole. */

import { visible } from "../../core/visible.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import { type Html, html } from "./html.ts";
import type { Named } from "./named.ts";
import { NONE } from "./numbers.ts";
import { rowsOfJson } from "./rows-of-json.ts";
import { name } from "./shown-text.ts";

/** What was held fixed; where files lay and on which occasion does not count. */
function fixedFacts({ manifest, manifestJson }: TrainingRunRecords): Map<string, string> {
  const { volatile: _, ...fixed } = manifestJson;
  const inputs = Object.fromEntries(manifest.inputs.map(({ role, sha256 }) => [role, sha256]));
  return new Map(rowsOfJson({ ...fixed, inputs }));
}

export function settingsSection(runs: readonly Named[]): Html {
  const differences = runs.length > 1 && differenceTable(runs);
  const manifests = runs.map(
    ({ name: run, run: { manifestJson } }) => html`<details><summary>manifest.json${
      runs.length > 1 && html` of ${run}`
    }</summary>
<pre>${JSON.stringify(manifestJson, null, 2).split("\n").map(visibleLine)}</pre></details>
`,
  );
  return html`${differences}${manifests}`;
}

const visibleLine = (line: string) => `${visible(line)}\n`;

function differenceTable(runs: readonly Named[]): Html {
  const facts = runs.map(({ run }) => fixedFacts(run));
  const keys = [...new Set(facts.flatMap((one) => [...one.keys()]))].sort();
  const different = keys.filter((key) => new Set(facts.map((one) => one.get(key))).size > 1);
  if (different.length === 0)
    return html`<p>The runs were set up alike, as far as their manifests say.</p>\n`;
  const rows = different.map((key) => {
    const cells = facts.map((one) => html`<td>${shown(one.get(key))}</td>`);
    return html`<tr><th scope="row">${name(key)}</th>${cells}</tr>`;
  });
  const head = runs.map(({ name: run }) => html`<th scope="col">${run}</th>`);
  const caution =
    different.length === 1
      ? "The runs differ in one setting."
      : `The runs differ in ${different.length} settings, so no difference in their curves can be laid to one of them alone.`;
  return html`<p>${caution}</p>
<div class="wide"><table class="plain"><thead><tr><th scope="col">setting</th>${head}</tr></thead>
<tbody>${rows}</tbody></table></div>
`;
}

const LONGEST = 200;

function shown(value: string | undefined): string {
  if (value === undefined) return NONE;
  const text = visible(/^[0-9a-f]{64}$/.test(value) ? value.slice(0, 16) : value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
