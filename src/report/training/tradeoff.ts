/** Trade-offs of runs that differ in one setting, such as those of a sweep. */

import { visible } from "../../core/visible.ts";
import {
  type MeasurePair,
  type TradedRun,
  tradeoffChart,
  tradeoffOf,
} from "../../curves/tradeoff.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import type { Tradeoff } from "../../runs/sweep-schema.ts";
import { figure } from "../page/chart-figure.ts";
import { flattenJson } from "../page/flatten-json.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { plain } from "../page/numbers.ts";
import type { NamedRun } from "./run-names.ts";

const SHOWN: readonly MeasurePair[] = [
  { y: "reward", x: "kl" },
  { y: "reward", x: "length" },
  { y: "reward", x: "tokens" },
];

/** Undefined unless exactly one setting differs and every run has an evaluation. */
export function tradeoffSection(runs: readonly NamedRun[]): Html | undefined {
  const over = onlyDifference(runs.map(({ run }) => run));
  const [first] = runs;
  if (over === undefined || !first || runs.some(({ run }) => run.evaluations.length === 0))
    return undefined;
  const traded = runs.map(
    ({ name, run }): TradedRun => ({ name, run, value: settingsOf(run).get(over) ?? null }),
  );
  const { algorithm } = first.run.manifest;
  const all = SHOWN.map((measures) => tradeoffOf({ over, algorithm, runs: traded }, measures));
  const drawn = all.filter(({ points }) => points.some(({ pareto }) => pareto !== null));
  return html`<p>The runs differ in ${codeHtml(over)} alone. A point is Pareto-optimal when no other run is at least as good in both measures and better in one. One run for each value: a small difference may be chance.</p>
<div class="charts">
${drawn.map((one) => figure(tradeoffChart(one), tableOf(one)))}</div>
`;
}

function tableOf({ over, x, y, points }: Tradeoff): Html {
  const rows = points.map(
    ({ value, pareto, ...point }) =>
      html`<tr><th scope="row">${visible(String(value))}</th><td>${plain(point.y)}</td><td>${plain(point.x)}</td><td>${pareto ? "yes" : "no"}</td></tr>\n`,
  );
  return html`<table><thead><tr><th scope="col">${visible(over)}</th><th scope="col">${y.label}</th><th scope="col">${x.label}</th><th scope="col">Pareto-optimal</th></tr></thead>
<tbody>${rows}</tbody></table>`;
}

/** The one setting that the runs differ in; the random seed trades nothing. */
function onlyDifference(runs: readonly TrainingRunRecords[]): string | undefined {
  const facts = runs.map(settingsOf);
  const keys = new Set(facts.flatMap((one) => [...one.keys()]));
  const different = [...keys].filter((key) => new Set(facts.map((one) => one.get(key))).size > 1);
  const [only] = different;
  return different.length === 1 && only !== "seed" ? only : undefined;
}

/** With the method and what it began with, as strings. */
function settingsOf({ manifest }: TrainingRunRecords): Map<string, string> {
  const { algorithm, init_fingerprint, settings, inputs, scorers } = manifest;
  return new Map([
    ...flattenJson(settings),
    ["the algorithm", algorithm],
    ["the initial policy", String(init_fingerprint)],
    ["the data", inputs.map(({ role, sha256 }) => `${role} ${sha256}`).join()],
    ["the scorers", scorers.map(({ identity }) => String(identity.source_sha256)).join()],
  ]);
}
