/** The failure modes of training, and the finding about each. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";
import { codeHtml, type Html, html, textHtml } from "../../page/html.ts";
import { sampleAnchor } from "../../training/samples.ts";
import { statusChip } from "../status.ts";
import { refusalDrift, safetyRegression } from "./axis-drift.ts";
import { type FailureMode, type Finding, finding } from "./finding.ts";
import { formatDrift } from "./format-drift.ts";
import { lengthBias } from "./length-bias.ts";
import { modeCollapse } from "./mode-collapse.ts";
import { rewardHacking } from "./reward-hacking.ts";

const MODES: readonly FailureMode[] = [
  ...[rewardHacking, lengthBias, refusalDrift, safetyRegression, modeCollapse],
  formatDrift,
];

/** `place` is the index of the run on the page. */
export function failureTable(run: TrainingRunRecords, place: number): Html {
  const rows = MODES.map((mode) => row(mode, run, place));
  return html`<table class="failures">
<thead><tr><th scope="col">failure</th><th scope="col">status</th><th scope="col">numbers</th>
<th scope="col">evidence</th></tr></thead>
<tbody>
${rows}</tbody></table>
`;
}

function row(mode: FailureMode, run: TrainingRunRecords, place: number): Html {
  const { status, numbers, evidence } = finding(mode, run);
  const samples = evidence.map((sample) =>
    evidenceItem(sample, sampleAnchor(run, place, sample.id)),
  );
  return html`<tr><th scope="row">${mode.name}</th>
<td>${statusChip(status)}</td>
<td>${numbers.map((sentence) => html`<p>${sentence}</p>`)}</td>
<td>${samples.length > 0 ? html`<ul>${samples}</ul>` : noEvidence(status)}</td></tr>
`;
}

function noEvidence(status: Finding["status"]): Html {
  return status === "seen"
    ? html`<span class="muted">No stored sample shows it.</span>`
    : html`<span class="muted none">–</span>`;
}

const SHORT = 80;

function evidenceItem({ id, code, completion }: SampleRecord, anchor: string | undefined): Html {
  const label = anchor ? html`<a href="#${anchor}">${codeHtml(id)}</a>` : codeHtml(id);
  const text = completion.length > SHORT ? `${completion.slice(0, SHORT)}…` : completion;
  return html`<li>${label} ${codeHtml(code)}<pre>${textHtml(text)}</pre></li>`;
}
