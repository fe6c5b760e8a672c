/** The alarms of a run in order, each with its message and evidence. */

import { visible } from "../../core/visible.ts";
import { ALARMS } from "../../runs/artifacts.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import type { Alarm } from "../../runs/train-records.ts";
import { flattenJson } from "../page/flatten-json.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { grouped, plain } from "../page/numbers.ts";

export function alarmList({ alarms, summary }: TrainingRunRecords): Html {
  if (alarms === undefined) return html`<p>No alarms: the run has no ${codeHtml(ALARMS)}.</p>\n`;
  if (alarms.length === 0) return html`<p>No alarms.</p>\n`;
  return html`<ol class="alarms">\n${alarms.map((one) => alarmItem(one, summary?.stop.reason))}</ol>\n`;
}

/** `reason`: why the run ended; a serious alarm stops it only where the settings let it. */
function alarmItem(
  { step, alarm, stops, message, evidence }: Alarm,
  reason: string | undefined,
): Html {
  const rows = flattenJson(evidence, plain).map(
    ([key, value]) => html`<div><dt>${visible(key)}</dt><dd>${visible(value)}</dd></div>`,
  );
  const facts = Object.keys(evidence).length > 0 && html`<dl class="facts">${rows}</dl>`;
  return html`<li><p><strong>${visible(alarm)}</strong> at step ${grouped(step)}${
    stops && alarm === reason && html` <span class="chip bad">stopped the run</span>`
  }</p>
<p>${visible(message)}</p>${facts}</li>
`;
}
