/**
 * Completions sampled again from the recorded checkpoint, at the addresses of the run: its seed, step
 * 0, the id of the example and the number of the sample.
 */

import type { JsonObject } from "../core/json.ts";
import { type SampleRequest, toAnswer } from "../core/policy.ts";
import type { EmbeddedPolicy } from "../policy/embedded.ts";
import type { Run } from "../runs/reader.ts";
import type { ResultRow } from "../runs/schemas.ts";
import type { VerificationPart } from "../runs/verification.ts";
import { type Draw, drawnRows } from "./draw.ts";
import { reached } from "./find-input.ts";
import { Comparison, impossible, type OnProgress } from "./part.ts";
import { comparePolicy, openRecordedPolicy, type PolicyOptions } from "./recorded-policy.ts";

export interface SampleOptions extends PolicyOptions {
  /** Absent: all rows. */
  readonly draw?: Draw | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** A row with the completions that it holds, by number of the sample. */
export interface SampledRow {
  readonly id: string;
  readonly prompt: string;
  /** Fields of an answer; those that a kind of run does not keep are left out. */
  readonly answers: readonly JsonObject[];
}

export async function verifySamples(run: Run, options: SampleOptions): Promise<VerificationPart> {
  const { manifest, summary } = run;
  const total = manifest.examples.count;
  const opened = await reached(() => openRecordedPolicy(manifest, options));
  if ("why" in opened) return impossible("sample", total, opened.why);
  const policy = opened.value;
  try {
    const comparison = new Comparison();
    comparePolicy(comparison, manifest, policy);
    const content = summary.results_sha256;
    const rows = sampledRows(run);
    const done = await reached(() =>
      sampleAgain(policy, rows, { ...options, total, content, comparison }),
    );
    return "why" in done ? impossible("sample", total, done.why) : done.value;
  } finally {
    await policy.close();
  }
}

export async function* sampledRows(run: Run): AsyncGenerator<SampledRow[], void, void> {
  let open: { id: string; prompt: string; answers: JsonObject[] } | undefined;
  for await (const batch of run.results().batches()) {
    const rows: SampledRow[] = [];
    for (const row of batch) {
      if (open && (row.sample ?? 0) > 0) {
        open.answers.push(...answersOf(row));
        continue;
      }
      if (open) rows.push(open);
      open = { id: row.id, prompt: row.prompt, answers: answersOf(row) };
    }
    yield rows;
  }
  if (open) yield [open];
}

function answersOf({ completion, sum_logprob, samples }: ResultRow): JsonObject[] {
  if (samples)
    return samples.map(({ completion: text, sum_logprob: logprob }) => answerOf(text, logprob));
  return completion === null ? [] : [answerOf(completion, sum_logprob)];
}

function answerOf(completion: string, sum_logprob: number | undefined): JsonObject {
  return { completion, ...(sum_logprob !== undefined && { sum_logprob }) };
}

interface Again extends SampleOptions {
  readonly total: number;
  /** A hash of all rows. */
  readonly content: string;
  readonly comparison: Comparison;
}

export async function sampleAgain(
  policy: EmbeddedPolicy,
  rows: AsyncIterable<readonly SampledRow[]>,
  { draw, total, content, comparison, onProgress }: Again,
): Promise<VerificationPart> {
  const drawn = draw && drawnRows(draw, total, content);
  const wanted = drawn?.size ?? total;
  let place = 0;
  let empty = 0;
  for await (const batch of rows) {
    const chosen = batch.filter(() => drawn?.has(place++) ?? true);
    empty += chosen.filter(({ answers }) => answers.length === 0).length;
    for await (const { row, expected } of answered(policy, chosen)) {
      comparison.compare(row.id, expected, numbered(row.answers));
      onProgress?.("Sampling again", comparison.repeated, wanted);
    }
  }
  const which = draw ? `drawn by ${draw.seed}` : "all rows";
  const without = empty === 0 ? "" : `; ${empty} without a completion`;
  return comparison.part("sample", total, `${which}${without}`);
}

/** Each row with what the policy answers, in the fields that the row has. */
async function* answered(policy: EmbeddedPolicy, rows: readonly SampledRow[]) {
  const rowOf = new Map<SampleRequest, SampledRow>();
  for (const row of rows) {
    const example = { id: row.id, prompt: row.prompt };
    for (const sample of row.answers.keys()) rowOf.set({ example, sample }, row);
  }
  const made = new Map<SampledRow, JsonObject[]>();
  for await (const [request, sampled] of policy.sample(rowOf.keys())) {
    const row = rowOf.get(request) as SampledRow;
    const list = made.get(row) ?? [];
    made.set(row, list);
    const answer = toAnswer(sampled) as unknown as JsonObject;
    const kept = Object.keys(row.answers[request.sample] as JsonObject);
    list[request.sample] = Object.fromEntries(kept.map((name) => [name, answer[name]]));
    if (Object.keys(list).length < row.answers.length) continue;
    made.delete(row);
    yield { row, expected: numbered(list) };
  }
}

/** Names of fields say which sample of several it is. */
function numbered(answers: readonly JsonObject[]): Record<string, unknown> {
  if (answers.length === 1) return { ...answers[0] };
  return Object.fromEntries(answers.map((answer, i) => [`sample ${i}`, answer]));
}
