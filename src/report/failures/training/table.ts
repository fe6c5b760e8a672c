/** The failure modes of training, and the finding about each. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";
import { codeHtml, type Html, html, textHtml } from "../../page/html.ts";
import { plain } from "../../page/numbers.ts";
import { isJudged } from "../../training/judged/judge-of.ts";
import { sampleAnchor } from "../../training/samples.ts";
import { statusChip } from "../status.ts";
import { refusalDrift, safetyRegression } from "./axis-drift.ts";
import { type FailureMode, type Finding, finding } from "./finding.ts";
import { formatDrift } from "./format-drift.ts";
import { lengthBias } from "./length-bias.ts";
import { modeCollapse } from "./mode-collapse.ts";
import { repetition } from "./repetition.ts";
import { rewardHacking } from "./reward-hacking.ts";
import { baseOfCounts, type SampleCount } from "./sample-count.ts";

const MODES: readonly FailureMode[] = [
  ...[rewardHacking, lengthBias, refusalDrift, repetition, modeCollapse],
  ...[safetyRegression, formatDrift],
];

/** `place` is the index of the run on the page. Of a judged run the samples that show each are counted. */
export function failureTable(run: TrainingRunRecords, place: number): Html {
  const judged = isJudged(run);
  const rows = MODES.map((mode) => row(mode, run, place));
  const base = baseOfCounts(run);
  return html`${base !== undefined && html`<p>${base}</p>\n`}<table class="failures${judged && " counted"}">
<thead><tr><th scope="col">failure</th><th scope="col">status</th>${
    judged && html`<th scope="col">samples</th>`
  }<th scope="col">numbers</th>
<th scope="col">evidence</th></tr></thead>
<tbody>
${rows}</tbody></table>
`;
}

function row(mode: FailureMode, run: TrainingRunRecords, place: number): Html {
  const { status, numbers, evidence, counted } = finding(mode, run);
  const samples = evidence.map((sample) =>
    evidenceItem(sample, sampleAnchor(run, place, sample.id)),
  );
  return html`<tr><th scope="row">${mode.name}</th>
<td>${statusChip(status)}</td>
${isJudged(run) && html`<td>${countText(counted)}</td>\n`}<td>${numbers.map((sentence) => html`<p>${sentence}</p>`)}</td>
<td>${samples.length > 0 ? html`<ul>${samples}</ul>` : noEvidence(status)}</td></tr>
`;
}

/** "5 of 32", and how many it were at the first validation. */
function countText(counted: SampleCount | undefined): Html {
  if (!counted) return html`<span class="muted">not counted</span>`;
  const { first, last } = counted;
  return html`<strong>${last.found.length}</strong> of ${last.of}
<p class="muted">at first ${first.found.length}</p>`;
}

function noEvidence(status: Finding["status"]): Html {
  return status === "seen"
    ? html`<span class="muted">No stored sample shows it.</span>`
    : html`<span class="muted none">–</span>`;
}

const SHORT = 80;

function evidenceItem(sample: SampleRecord, anchor: string | undefined): Html {
  const { id, code, completion } = sample;
  const label = anchor ? html`<a href="#${anchor}">${codeHtml(id)}</a>` : codeHtml(id);
  const text = completion.length > SHORT ? `${completion.slice(0, SHORT)}…` : completion;
  return html`<li>${label} ${codeHtml(code)}${judgedText(sample)}<pre>${textHtml(text)}</pre></li>`;
}

/** "judge 0.9, initial policy 0.4; reward 0" */
function judgedText({ judge, reward }: SampleRecord): Html | undefined {
  if (!judge) return undefined;
  const scores = `judge ${plain(judge.score)}, initial policy ${plain(judge.baseline)}`;
  return html` <span class="muted">${scores}; validation ${plain(reward)}</span>`;
}
