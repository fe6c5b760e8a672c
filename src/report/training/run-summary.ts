/** The summary of a run at the top of the page: what was trained, how it ended, and the key figures. */

import path from "node:path";
import { visible } from "../../core/visible.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import type { BusinessOptions } from "../business/business.ts";
import { codeHtml, type Html, html } from "../page/html.ts";
import { many } from "../page/numbers.ts";
import { sentenceOf } from "../page/verification.ts";
import { keyFigures } from "./key-figures.ts";
import type { NamedRun } from "./run-names.ts";
import { alarmCount, plannedSteps, statusOf, stepsDone } from "./run-status.ts";
import { holdoutSentence, judgeSentence, milestoneTable, winSentence } from "./validation.ts";

/** `isTitled`: with one run, the title of the page names it. */
export function runSummary(
  { name: title, run }: NamedRun,
  isTitled: boolean,
  options: Pick<BusinessOptions, "pricePerHour" | "prices">,
): Html {
  const { state, word, sentence, warnings } = statusOf(run);
  const { alarms = [] } = run;
  const count = alarmCount(run);
  const alarm =
    alarms.length === 0 ? "No alarms." : html`<a href="#alarms">${count}</a>: ${alarmNames(run)}.`;
  const sentences = [winSentence(run), judgeSentence(run), holdoutSentence(run)].filter(
    (text) => text !== undefined,
  );
  return html`<article class="run">
${isTitled && html`<h2>${title}</h2>\n`}<p class="verdict ${state === "finished" && alarms.length > 0 ? "alarmed" : state}"><strong>${word}.</strong> ${sentence} ${alarm}</p>
${warnings.map((text) => html`<p class="verdict alarm"><strong>Warning.</strong> ${text}</p>\n`)}<p>${whatWasTrained(run)}</p>
${run.verification !== undefined && html`<p>${sentenceOf(run.verification)}</p>\n`}<div class="body">
<div>${keyFigures(run, options)}${sentences.map((text) => html`<p>${text}</p>\n`)}</div>
${milestoneTable(run)}</div>
</article>
`;
}

/** Of a scored prompt; there is no more to say of it than its scorers. */
const SINGLE_TURN = "single_turn";

function whatWasTrained(run: TrainingRunRecords): Html {
  const { algorithm, init_fingerprint: from, inputs, scorers, environment } = run.manifest;
  const validation = run.manifest.validation_environment?.name;
  const into = run.summary?.checkpoint_fingerprint;
  const data = inputs.map(
    ({ role, path: file, rows, split }, i) =>
      html`${i > 0 && ", "}${visible(role)} ${file === null ? html`${visible(split ?? "")} tasks` : codeHtml(path.basename(file))} (${many(rows, "row")})`,
  );
  const scoredBy = scorers.map(
    ({ role, identity }) => html`; ${visible(role)} by ${codeHtml(String(identity.name))}`,
  );
  const played =
    environment !== null && environment.name !== SINGLE_TURN && String(environment.name);
  return html`${codeHtml(algorithm)} for ${many(plannedSteps(run) ?? stepsDone(run), "step")}, ${
    from === null ? "from scratch" : html`from checkpoint ${fingerprint(from)}`
  }${into !== undefined && html`, into checkpoint ${fingerprint(into)}`}${
    played && html`; in the environment ${codeHtml(played)}`
  }${
    validation !== undefined && html`; validated in ${codeHtml(String(validation))}`
  }${data.length > 0 && html`; ${data}`}${scoredBy}.`;
}

const fingerprint = (text: string) =>
  html`<code title="${visible(text)}">${visible(text.slice(0, 12))}</code>`;

function alarmNames({ alarms = [] }: TrainingRunRecords): string {
  return [...new Set(alarms.map(({ alarm }) => visible(alarm)))].join(", ");
}
