/** The head of a run: what was trained, how it ended, and the key figures. */

import path from "node:path";
import { visible } from "../../core/visible.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import { keyFigures } from "./figures.ts";
import { type Html, html } from "./html.ts";
import type { Named } from "./named.ts";
import { many } from "./numbers.ts";
import { name } from "./shown-text.ts";
import { holdoutSentence, milestoneTable, winSentence } from "./validation.ts";
import { alarmCount, plannedSteps, stepsDone, verdictOf } from "./verdict.ts";

/** Where there is one run, the title of the page names it. */
export function runHead(
  { name: title, run }: Named,
  isTitled: boolean,
  pricePerHour: number | undefined,
): Html {
  const { state, word, sentence, warnings } = verdictOf(run);
  const { alarms = [] } = run;
  const count = alarmCount(run);
  const alarm =
    alarms.length === 0 ? "No alarm." : html`<a href="#alarms">${count}</a>: ${alarmNames(run)}.`;
  const sentences = [winSentence(run), holdoutSentence(run)].filter((text) => text !== undefined);
  return html`<article class="run">
${isTitled && html`<h2>${title}</h2>\n`}<p class="verdict ${state === "finished" && alarms.length > 0 ? "alarmed" : state}"><strong>${word}.</strong> ${sentence} ${alarm}</p>
${warnings.map((text) => html`<p class="verdict alarm"><strong>Beware.</strong> ${text}</p>\n`)}<p>${whatWasTrained(run)}</p>
<div class="body">
<div>${keyFigures(run, pricePerHour)}${sentences.map((text) => html`<p>${text}</p>\n`)}</div>
${milestoneTable(run)}</div>
</article>
`;
}

function whatWasTrained(run: TrainingRunRecords): Html {
  const { algorithm, init_fingerprint: from, inputs, scorers } = run.manifest;
  const into = run.summary?.checkpoint_fingerprint;
  const data = inputs.map(
    ({ role, path: file, rows }, i) =>
      html`${i > 0 && ", "}${visible(role)} ${name(path.basename(file))} (${many(rows, "row")})`,
  );
  const judges = scorers.map(
    ({ role, identity }) => html`; ${visible(role)} by ${name(String(identity.name))}`,
  );
  return html`${name(algorithm)} for ${many(plannedSteps(run) ?? stepsDone(run), "step")}, ${
    from === null ? "from scratch" : html`from checkpoint ${fingerprint(from)}`
  }${into !== undefined && html`, into checkpoint ${fingerprint(into)}`}${
    data.length > 0 && html`; ${data}`
  }${judges}.`;
}

const fingerprint = (text: string) =>
  html`<code title="${visible(text)}">${visible(text.slice(0, 12))}</code>`;

function alarmNames({ alarms = [] }: TrainingRunRecords): string {
  return [...new Set(alarms.map(({ alarm }) => visible(alarm)))].join(", ");
}
