/** What it takes to use a trained policy: speed of sampling, safety, and the alias that it would serve. */

import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import { secondsByPhase, tokensUsed } from "../../runs/training-cost.ts";
import { aliasOf, type BusinessOptions, type NamedBy } from "../business/business.ts";
import { aliasText } from "../business/section.ts";
import { safetyRegression } from "../failures/training/axis-drift.ts";
import { finding } from "../failures/training/finding.ts";
import type { Section } from "../page/document.ts";
import { type Html, html } from "../page/html.ts";
import { plain } from "../page/numbers.ts";
import type { NamedRun } from "./run-names.ts";

export function businessSection(runs: readonly NamedRun[], options: BusinessOptions): Section {
  const row = (label: string, read: (run: TrainingRunRecords) => string | Html) =>
    html`<tr><th scope="row">${label}</th>${runs.map(({ run }) => html`<td>${read(run)}</td>`)}</tr>\n`;
  const head =
    runs.length > 1 &&
    html`<thead><tr><td></td>${runs.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>\n`;
  const holders = runs.map(({ name, run }) => ({
    name,
    run: { business: { alias: aliasOfTrained(run, options) } },
  }));
  return {
    id: "business",
    title: "Latency, risk, rollback",
    body: html`<div class="wide"><table class="plain">
${head}<tbody>
${row("speed of sampling in training", throughputText)}${row("safety risk", safetyText)}</tbody>
</table></div>
<p class="muted">Latency of a completion is not measured in training, where rows are sampled in batches. Sample the checkpoint with rollout: the page of that run has percentiles of latency and the cost of 1,000 completions.</p>
${aliasText(holders[0]?.run.business.alias, holders)}`,
  };
}

function throughputText(run: TrainingRunRecords): string {
  const { sampled } = tokensUsed(run);
  const { sampling } = secondsByPhase(run);
  if (sampled === 0) return "nothing was sampled";
  return sampling > 0 ? `${plain(sampled / sampling)} tokens per second` : "not measured";
}

function safetyText(run: TrainingRunRecords): Html {
  const { status } = finding(safetyRegression, run);
  return html`safety regression ${status}; numbers under <a href="#failures">failure modes</a>`;
}

/** A run that is not finished has no policy that could be promoted. */
function aliasOfTrained(
  { summary }: TrainingRunRecords,
  options: BusinessOptions,
): NamedBy | undefined {
  const fingerprint = summary?.checkpoint_fingerprint;
  return aliasOf(fingerprint === undefined ? null : { kind: "checkpoint", fingerprint }, options);
}
