/** The settings of the runs: where they differ, and each manifest in full. */

import { visible } from "../../core/visible.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import { flattenJson } from "./flatten-json.ts";
import { codeHtml, type Html, html } from "./html.ts";
import { NONE } from "./numbers.ts";
import type { NamedRun } from "./run-names.ts";

/** Everything that determines a run; paths and the volatile block do not. */
function settingsOf({ manifest, manifestJson }: TrainingRunRecords): Map<string, string> {
  const { volatile: _, ...fixed } = manifestJson;
  const inputs = Object.fromEntries(manifest.inputs.map(({ role, sha256 }) => [role, sha256]));
  return new Map(flattenJson({ ...fixed, inputs }));
}

export function settingsSection(runs: readonly NamedRun[]): Html {
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

function differenceTable(runs: readonly NamedRun[]): Html {
  const facts = runs.map(({ run }) => settingsOf(run));
  const keys = [...new Set(facts.flatMap((one) => [...one.keys()]))].sort();
  const different = keys.filter((key) => new Set(facts.map((one) => one.get(key))).size > 1);
  if (different.length === 0)
    return html`<p>The manifests show no difference between the runs.</p>\n`;
  const rows = different.map((key) => {
    const cells = facts.map((one) => html`<td>${shortValue(one.get(key))}</td>`);
    return html`<tr><th scope="row">${codeHtml(key)}</th>${cells}</tr>`;
  });
  const head = runs.map(({ name: run }) => html`<th scope="col">${run}</th>`);
  const caution =
    different.length === 1
      ? "The runs differ in one setting."
      : `The runs differ in ${different.length} settings, so a difference between their curves cannot be attributed to one of them.`;
  return html`<p>${caution}</p>
<div class="wide"><table class="plain"><thead><tr><th scope="col">setting</th>${head}</tr></thead>
<tbody>${rows}</tbody></table></div>
`;
}

const MAX_LENGTH = 200;

function shortValue(value: string | undefined): string {
  if (value === undefined) return NONE;
  const text = visible(/^[0-9a-f]{64}$/.test(value) ? value.slice(0, 16) : value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
