/** Completions at the start, in the middle and at the end of training, side by side for each prompt. */

import { visible } from "../../core/visible.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import type { SampleRecord } from "../../runs/train-records.ts";
import { codeHtml, type Html, html, textHtml } from "../page/html.ts";
import { grouped, many, plain } from "../page/numbers.ts";

const MAX_PROMPTS = 40;
/** Of more prompts the others are folded. */
const IN_SIGHT = 12;
/** Longer conversations are folded. */
const OPEN_TURNS = 4;

/** The steps that are shown: first, the one nearest to the middle, last. */
export function sampledSteps({ samples }: TrainingRunRecords): number[] {
  const steps = [...new Set(samples.map(({ step }) => step))].sort((a, b) => a - b);
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return [];
  const half = (first + last) / 2;
  const middle = steps.reduce((best, step) =>
    Math.abs(step - half) < Math.abs(best - half) ? step : best,
  );
  return [...new Set([first, middle, last])];
}

/** Ids in the order in which they first appear. */
function idsOf({ samples }: TrainingRunRecords): string[] {
  return [...new Set(samples.map(({ id }) => id))];
}

/** The anchor of an id's samples; undefined where the page does not show them. */
export function sampleAnchor(
  run: TrainingRunRecords,
  place: number,
  id: string,
): string | undefined {
  const index = idsOf(run).indexOf(id);
  return index < 0 || index >= MAX_PROMPTS ? undefined : `samples-${place + 1}-${index + 1}`;
}

export function sampleList(run: TrainingRunRecords, place: number): Html {
  const steps = sampledSteps(run);
  const ids = idsOf(run);
  const at = new Map(run.samples.map((sample) => [`${sample.step} ${sample.id}`, sample]));
  const prompts = ids.slice(0, MAX_PROMPTS).map((id) => {
    const cells = steps.map((step) => at.get(`${step} ${id}`));
    return promptArticle(id, steps, cells, sampleAnchor(run, place, id));
  });
  const rest = ids.length - MAX_PROMPTS;
  const more = prompts.slice(IN_SIGHT);
  const folded =
    more.length > 0 &&
    html`<details class="more"><summary>${many(more.length, "more prompt")}</summary>\n${more}</details>\n`;
  return html`${prompts.slice(0, IN_SIGHT)}${folded}${rest > 0 && html`<p>${many(rest, "further prompt")} in ${codeHtml("samples.jsonl")}.</p>\n`}`;
}

function promptArticle(
  id: string,
  steps: readonly number[],
  cells: readonly (SampleRecord | undefined)[],
  anchor: string | undefined,
): Html {
  const prompt = cells.find((cell) => cell !== undefined)?.prompt ?? "";
  return html`<article class="sample" id="${anchor}">
<h4>${codeHtml(id)}</h4>
<pre class="prompt">${textHtml(prompt)}</pre>
<div class="completions">${cells.map((cell, i) => answer(steps[i] ?? 0, cell))}</div>
</article>
`;
}

function answer(step: number, sample: SampleRecord | undefined): Html {
  if (sample === undefined)
    return html`<div><p>step ${grouped(step)}</p><p class="muted">not sampled</p></div>`;
  const { reward, code } = sample;
  return html`<div><p>step ${grouped(step)} · ${codeHtml(code)} · reward ${plain(reward)}</p>
${said(sample)}</div>`;
}

/** Of an episode the whole conversation; one of many turns is folded. */
function said({ completion, messages }: SampleRecord): Html {
  if (messages === undefined) return html`<pre>${textHtml(completion)}</pre>`;
  const turns = messages.filter(({ role }) => role === "assistant").length;
  const lines = messages.map(
    ({ role, content }) =>
      html`<p class="muted">${visible(role)}</p>\n<pre>${textHtml(content)}</pre>\n`,
  );
  return html`<details${turns <= OPEN_TURNS && html` open`}><summary>${many(turns, "turn")}</summary>
${lines}</details>`;
}
