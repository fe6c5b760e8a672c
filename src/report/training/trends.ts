/** The nine cells of reward and validation trends, with the present one marked. */

import { type Reading, readDirections } from "../../curves/divergence.ts";
import { CELLS, DIRECTIONS, type Direction } from "../../curves/nine-cells.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import { type Html, html } from "../page/html.ts";
import { grouped, plain, signed } from "../page/numbers.ts";
import { phaseParagraph } from "./phases.ts";

export const TREND_STYLE = `
.cells :is(th, td) { min-width: 11rem; padding: 0.5rem 0.75rem; white-space: normal; }
.cells thead th, .cells th[scope=row] { min-width: 6rem; }
.cells td[aria-current] { outline: 2px solid var(--accent); outline-offset: -2px; background: var(--tint); }
`;

const WORDS: Readonly<Record<Direction, string>> = { up: "rises", flat: "is flat", down: "falls" };

export function trendSection(run: TrainingRunRecords): Html {
  const steps = run.steps.map(({ step, values }) => ({ step, ...values }));
  const reading = readDirections({ steps, evaluations: run.evaluations });
  const head = DIRECTIONS.map((reward) => html`<th scope="col">reward ${WORDS[reward]}</th>`);
  const rows = DIRECTIONS.map(
    (validation) =>
      html`<tr><th scope="row">validation ${WORDS[validation]}</th>${DIRECTIONS.map((reward) => cellHtml(validation, reward, reading))}</tr>\n`,
  );
  return html`${phaseParagraph(run)}<p>${sentenceOf(reading, run)}</p>
<div class="wide"><table class="plain cells">
<thead><tr><td></td>${head}</tr></thead>
<tbody>
${rows}</tbody></table></div>
`;
}

function cellHtml(validation: Direction, reward: Direction, reading: Reading): Html {
  const { verdict, meaning, action } = CELLS[validation][reward];
  const isHere = reading.cell === CELLS[validation][reward];
  const name = verdict === "undecided" ? "" : html` <strong>${capitalised(verdict)}.</strong>`;
  return html`<td${isHere && html` aria-current="true"`}>${isHere && html`<strong>Now here.</strong>`}${name} ${meaning} ${action}</td>`;
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function sentenceOf({ validation, reward }: Reading, { evaluations }: TrainingRunRecords): string {
  if (!validation || !reward) {
    const why =
      evaluations.length < 3
        ? `there are ${evaluations.length} validations, and it takes three`
        : "no rise, fall or standstill of the validation reward is established";
    return `The present cell is not known: ${why}.`;
  }
  const { since, mean, examples, error, direction } = validation;
  const step = `step ${grouped(since)}`;
  const compared =
    direction === "flat"
      ? `Mean of the later half of the validations since ${step}, against the earlier half`
      : `Mean of the last two validations, against ${step}`;
  const change = `${signed(mean)} ± ${plain(error)} on ${grouped(examples)} examples`;
  const { training, proxy } = reward;
  const moved = training ?? proxy;
  const which = training ? "training reward" : "reward scorers on the validation examples";
  return `${compared}: validation ${WORDS[direction]} (${change}) and the reward ${WORDS[reward.direction]} (${which}: ${plain(moved.from)} → ${plain(moved.to)}, z = ${plain(moved.z)}).`;
}
