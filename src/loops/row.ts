/** One row of results.jsonl. */

import { canonicalJson } from "../core/json.ts";
import type { Completion, Example } from "../core/records.ts";
import { type Judgement, MISSING_COMPLETION } from "../core/score.ts";
import type { ResultRow } from "../runs/schemas.ts";
import type { ScoredSample } from "./decide.ts";

export const missing: Judgement = {
  reward: null,
  code: MISSING_COMPLETION,
  details: { message: "no completion names this example" },
};

export function resultRow(
  example: Example,
  answer: Completion | undefined,
  judged: Judgement,
): ResultRow {
  const row: ResultRow = {
    id: example.id,
    prompt: example.prompt,
    expected_answer: (example.expected_answer ?? null) as ResultRow["expected_answer"],
    completion: answer?.completion ?? null,
    reward: judged.reward,
    outcome_code: judged.code,
    details: judged.details as ResultRow["details"],
  };
  const { sum_logprob: logprob, sum_ref_logprob: reference } = answer ?? {};
  if (typeof logprob === "number") row.sum_logprob = logprob;
  if (typeof reference === "number") row.sum_ref_logprob = reference;
  // The one-sample estimator k1 of KL(policy ‖ reference): log π(y) − log π_ref(y).
  if (typeof logprob === "number" && typeof reference === "number")
    row.kl_est = logprob - reference;
  return row;
}

/** `canonicalJson` of a row, with the key order written down because this runs once per
 * example. A selection's samples are written from what was scored. */
export function rowJson(row: ResultRow, samples?: readonly ScoredSample[]): string {
  const text = JSON.stringify;
  return (
    `{${row.baseline ? `"baseline":${canonicalJson(row.baseline)},` : ""}"completion":${text(row.completion)},"details":${canonicalJson(row.details)}` +
    `,"expected_answer":${canonicalJson(row.expected_answer)},"id":${text(row.id)}` +
    (row.kl_est === undefined ? "" : `,"kl_est":${row.kl_est}`) +
    `,"outcome_code":${text(row.outcome_code)},"prompt":${text(row.prompt)},"reward":${text(row.reward)}` +
    (samples === undefined ? "" : `,"samples":[${samples.map(sampleJson).join(",")}]`) +
    (row.selected === undefined ? "" : `,"selected":${canonicalJson(row.selected)}`) +
    (row.sum_logprob === undefined ? "" : `,"sum_logprob":${text(row.sum_logprob)}`) +
    (row.sum_ref_logprob === undefined ? "" : `,"sum_ref_logprob":${text(row.sum_ref_logprob)}`) +
    (row.unstable ? `,"unstable":true` : "") +
    "}"
  );
}

function sampleJson({ completion, code, reward, sum_logprob: logprob }: ScoredSample): string {
  const text = JSON.stringify;
  return `{"completion":${text(completion)},"outcome_code":${text(code)},"reward":${reward}${logprob === null ? "" : `,"sum_logprob":${logprob}`}}`;
}
