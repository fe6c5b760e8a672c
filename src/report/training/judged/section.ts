/** The judge of a run: what it is, how often it gave no verdict, and whom it prefers. */

import type { JsonObject } from "../../../core/json.ts";
import { isFields } from "../../../core/records.ts";
import { visible } from "../../../core/visible.ts";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { EvaluationRecord } from "../../../runs/train-records.ts";
import { type JudgeUsed, judgeUsed } from "../../../runs/training-cost.ts";
import type { Section } from "../../page/document.ts";
import { codeHtml, type Html, html, textHtml } from "../../page/html.ts";
import { grouped, NONE, percent, percentRange, plain } from "../../page/numbers.ts";
import type { NamedRun } from "../run-names.ts";
import { isJudged, judgeOf } from "./judge-of.ts";
import { judgeWinRate, labelWinRate, type MeasuredRate } from "./win-rates.ts";

/** Undefined where no run has a judge. */
export function judgeSection(runs: readonly NamedRun[]): Section | undefined {
  const judged = runs.filter(({ run }) => isJudged(run));
  if (judged.length === 0) return undefined;
  const parts = judged.map(
    ({ name, run }) =>
      html`${runs.length > 1 && html`<h3>${name}</h3>\n`}${identityTable(run)}${comparisons(run)}`,
  );
  return { id: "judge", title: "Judge", body: html`${parts}` };
}

function identityTable(run: TrainingRunRecords): Html {
  const judge: JsonObject = judgeOf(run) ?? {};
  const used = judgeUsed(run);
  const row = (label: string, value: Html | string) =>
    html`<tr><th scope="row">${label}</th><td>${value}</td></tr>\n`;
  return html`<div class="wide"><table class="plain">
<tbody>
${row("model", html`${codeHtml(textOf(judge.name))}, endpoint ${visible(textOf(judge.endpoint))}`)}${row(
  "fingerprint",
  html`${codeHtml(textOf(judge.fingerprint))}: runs with another one are not comparable`,
)}${row("request", `version ${visible(textOf(judge.version))}; ${samplingText(judge.sampling)}`)}${row(
  "rubric",
  html`<pre>${textHtml(textOf(judge.rubric))}</pre>`,
)}${used && row("groups", groupsText(run, used))}</tbody>
</table></div>
`;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "unknown");

/** "temperature 0, seed 0" */
function samplingText(sampling: unknown): string {
  const entries = Object.entries(isFields(sampling) ? sampling : {});
  return entries.map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", ");
}

/** A group without a verdict is dropped, and never scored 0. */
function groupsText(run: TrainingRunRecords, { groups, dropped }: JudgeUsed): string {
  const limit = run.manifest.judge?.dropped_limit ?? 0;
  const share = groups === 0 ? "" : ` (${percent(dropped / groups)}, limit ${percent(limit)})`;
  const same = run.steps.reduce((sum, { values }) => sum + (values["judge/identical"] ?? 0), 0);
  const equal =
    same > 0 ? `; ${grouped(same)} in training with identical episodes, which teach nothing` : "";
  return `${grouped(groups)} asked about, ${grouped(dropped)} dropped without a verdict${share}${equal}`;
}

type Row = [label: string, read: (one: EvaluationRecord) => string];

const MOST = 7;

/** Validation by validation; of many, some from the first to the last. */
function comparisons(run: TrainingRunRecords): Html {
  const judged = run.evaluations.filter(({ judge }) => judge);
  if (judged.length === 0) return html``;
  const shown = spread(judged, MOST);
  const rows: Row[] = [
    ["win rate by the judge", (one) => rateText(judgeWinRate(one))],
    ["95 % interval", (one) => rangeText(judgeWinRate(one))],
    ...(judged.some(({ labels }) => labels)
      ? ([
          ["win rate by labels", (one) => rateText(labelWinRate(run, one))],
          ["95 % interval", (one) => rangeText(labelWinRate(run, one))],
        ] satisfies Row[])
      : []),
    ["judge's mean score", ({ judge }) => plain(judge?.score_mean)],
    ["of the initial policy in the same groups", ({ judge }) => plain(judge?.baseline_mean)],
    ["dropped", ({ judge }) => `${judge?.dropped ?? 0} of ${judge?.groups ?? 0}`],
  ];
  const lines = rows.map(
    ([label, read]) =>
      html`<tr><th scope="row">${label}</th>${shown.map((one) => html`<td>${read(one)}</td>`)}</tr>\n`,
  );
  const head = shown.map(({ step }) => html`<th scope="col">step ${grouped(step)}</th>`);
  return html`<h3>Against the initial policy</h3>
<div class="wide"><table>
<thead><tr><th scope="col">validation</th>${head}</tr></thead>
<tbody>
${lines}</tbody></table></div>
<p class="muted">Both episodes of a task are judged in one group, in an order drawn with the seed. A tie counts as half, so that equal policies have a win rate of 50 %. The verdict on each task is not recorded, so the judge's interval is as wide as if there were no ties.</p>
`;
}

const rateText = (found: MeasuredRate | undefined) => (found ? percent(found.rate) : NONE);
const rangeText = (found: MeasuredRate | undefined) =>
  found?.interval ? percentRange(found.interval) : NONE;

function spread<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  const place = (i: number) => Math.round((i * (items.length - 1)) / (most - 1));
  return Array.from({ length: most }, (_, i) => items[place(i)] as T);
}
