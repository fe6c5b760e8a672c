/** One row of results.jsonl. */

import { canonicalJson } from "../core/json.ts";
import type { Completion, Example } from "../core/records.ts";
import { type CheckedScore, MISSING_COMPLETION } from "../core/score.ts";
import type { ResultRow } from "../runs/schemas.ts";
import type { ScoredSample } from "./decide.ts";
import type { ScoredPack } from "./score-packs.ts";

/** Nothing to score, and why. */
export function missing(message: string): CheckedScore {
  return { reward: null, code: MISSING_COMPLETION, details: { message } };
}

export function resultRow(
  example: Example,
  answer: Completion | undefined,
  score: CheckedScore,
): ResultRow {
  const row: ResultRow = {
    id: example.id,
    prompt: example.prompt,
    expected_answer: (example.expected_answer ?? null) as ResultRow["expected_answer"],
    completion: answer?.completion ?? null,
    reward: score.reward,
    outcome_code: score.code,
    details: score.details as ResultRow["details"],
  };
  // Always: whoever reads the run can score it on an axis.
  if (example.axis_labels !== undefined)
    row.axis_labels = example.axis_labels as ResultRow["axis_labels"];
  const { sum_logprob: logprob, sum_ref_logprob: reference } = answer ?? {};
  if (typeof logprob === "number") row.sum_logprob = logprob;
  if (typeof reference === "number") row.sum_ref_logprob = reference;
  // The one-sample estimator k1 of KL(policy ‖ reference): log π(y) − log π_ref(y).
  if (typeof logprob === "number" && typeof reference === "number")
    row.kl_est = logprob - reference;
  return row;
}

type SampleScores = Pick<ScoredPack, "samples" | "firstOf">;

/** `canonicalJson` of a row, with the key order written down because this runs once per
 * example. A selection's samples are written from what was scored. */
export function rowJson(row: ResultRow, scored?: SampleScores): string {
  const text = JSON.stringify;
  return (
    `{${row.axes ? `"axes":${canonicalJson(row.axes)},` : ""}${row.axis_labels === undefined ? "" : `"axis_labels":${canonicalJson(row.axis_labels)},`}` +
    `${row.baseline ? `"baseline":${choiceJson(row.baseline)},` : ""}"completion":${text(row.completion)},"details":${canonicalJson(row.details)}` +
    (row.episode === undefined ? "" : `,"episode":${canonicalJson(row.episode)}`) +
    `,"expected_answer":${canonicalJson(row.expected_answer)},"id":${text(row.id)}` +
    (row.kl_est === undefined ? "" : `,"kl_est":${row.kl_est}`) +
    `,"outcome_code":${text(row.outcome_code)}${passedJson(row)},"prompt":${text(row.prompt)},"reward":${text(row.reward)}` +
    (row.sample === undefined ? "" : `,"sample":${row.sample}`) +
    (scored ? `,"samples":${samplesJson(scored)}` : "") +
    (row.selected === undefined ? "" : `,"selected":${choiceJson(row.selected)}`) +
    (row.slices === undefined ? "" : `,"slices":${canonicalJson(row.slices)}`) +
    (row.sum_logprob === undefined ? "" : `,"sum_logprob":${text(row.sum_logprob)}`) +
    (row.sum_ref_logprob === undefined ? "" : `,"sum_ref_logprob":${text(row.sum_ref_logprob)}`) +
    (row.unstable ? `,"unstable":true` : "") +
    "}"
  );
}

function choiceJson(choice: NonNullable<ResultRow["selected"]>): string {
  const { index, outcome_code: code, reward } = choice;
  return `{"index":${index},"outcome_code":${quoted(code)}${passedJson(choice)},"reward":${JSON.stringify(reward)}}`;
}

/** Only episodes have it. */
function passedJson({ passed }: { readonly passed?: boolean | undefined }): string {
  return passed === undefined ? "" : `,"passed":${passed}`;
}

/** Runs once per sample, of which there are many; a repeated text is not serialised again. */
function samplesJson({ samples, firstOf }: SampleScores): string {
  const verdicts: string[] = [];
  const parts: string[] = [];
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] as ScoredSample;
    const { completion, code, reward, sum_logprob: logprob } = sample;
    const verdict =
      verdicts[firstOf[i] ?? i] ??
      `{"completion":${quoted(completion)},"outcome_code":${quoted(code)}${passedJson(sample)},"reward":${reward}`;
    verdicts.push(verdict);
    parts.push(logprob === null ? `${verdict}}` : `${verdict},"sum_logprob":${logprob}}`);
  }
  return `[${parts.join(",")}]`;
}

/** `JSON.stringify` of a text; one without anything to escape only needs its quotes. */
function quoted(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;
