/** The settings of the runs: where they differ, and each manifest in full. */

import type { Json, JsonObject } from "../../core/json.ts";
import { visible } from "../../core/visible.ts";
import type { Section } from "./document.ts";
import { flattenJson } from "./flatten-json.ts";
import { codeHtml, type Html, html } from "./html.ts";
import { NONE } from "./numbers.ts";
import type { Named } from "./run-names.ts";

type WithManifest = Named<{ readonly manifestJson: JsonObject }>;

/** Everything that determines a run; paths and the volatile block do not. */
function settingsOf({ manifestJson }: WithManifest["run"]): Map<string, string> {
  const { volatile: _, scorer, ...fixed } = manifestJson;
  const inputs = ((manifestJson.inputs ?? []) as JsonObject[]).map(
    ({ role, sha256 }): [string, Json] => [String(role), sha256 ?? null],
  );
  const { path: _path, ...identity } = (scorer ?? {}) as JsonObject;
  return new Map(
    flattenJson({
      ...fixed,
      ...(scorer !== undefined && { scorer: identity as Json }),
      inputs: Object.fromEntries(inputs),
    }),
  );
}

/** The last part of most pages. */
export function settingsOfRuns(runs: readonly WithManifest[]): Section {
  const title = runs.length > 1 ? "Settings" : "Manifest";
  return { id: "settings", title, body: settingsSection(runs) };
}

/** `tell` introduces the settings that differ, by their number. */
export function settingsSection(
  runs: readonly WithManifest[],
  tell: (different: number) => string = () => "The manifests differ in:",
): Html {
  const differences = runs.length > 1 && differenceTable(runs, tell);
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

function differenceTable(runs: readonly WithManifest[], tell: (different: number) => string): Html {
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
  return html`<p>${tell(different.length)}</p>
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
