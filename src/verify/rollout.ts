/** A rollout made again: its files, and its answers to the prompts of the data set. */

import type { JsonObject } from "../core/json.ts";
import { promptFingerprint } from "../core/prompt-fingerprint.ts";
import { openRollout, type Rollout } from "../runs/read-rollout.ts";
import { RowCursor } from "../runs/rows.ts";
import type { PartName, VerificationPart } from "../runs/verification.ts";
import { NO_HISTORY, verifyExposure } from "./exposure.ts";
import { filesPart } from "./files.ts";
import { findFile, type Places, reached } from "./find-input.ts";
import { Comparison, impossible, skipped } from "./part.ts";
import { comparePolicy, findRecordedCheckpoint, openRecordedPolicy } from "./recorded-policy.ts";
import { verifyRolloutEpisodes } from "./rollout-episodes.ts";
import { type SampledRow, type SampleOptions, sampleAgain } from "./sample.ts";
import { examplesIn } from "./scored-rows.ts";
import { verifyTries } from "./tries.ts";

export async function verifyRollout(
  dir: string,
  asked: readonly PartName[],
  options: SampleOptions,
): Promise<VerificationPart[]> {
  const rollout = await openRollout(dir);
  if (rollout.manifest.environment) return verifyRolloutEpisodes(rollout, asked, options);
  const parts: VerificationPart[] = [];
  const files = 1 + Object.keys(rollout.summary.files).length;
  if (asked.includes("files"))
    parts.push(filesPart(await rollout.editedFiles(), files, "hashes, and the provenance"));
  if (asked.includes("sample")) parts.push(await samplesOf(rollout, options));
  if (asked.includes("exposure")) parts.push(await exposureOf(rollout, options));
  if (asked.includes("tries")) parts.push(await triesOf(rollout, options));
  return parts;
}

async function triesOf(rollout: Rollout, options: SampleOptions): Promise<VerificationPart> {
  const { manifest } = rollout;
  const opened = await reached(async () => ({
    dataset: await datasetFile(rollout, options),
    policy: await openRecordedPolicy(manifest, options),
  }));
  if ("why" in opened) return skipped("tries", opened.why);
  const { dataset, policy } = opened.value;
  try {
    return await verifyTries(manifest, policy, rowsOf(rollout, dataset));
  } finally {
    await policy.close();
  }
}

async function samplesOf(rollout: Rollout, options: SampleOptions): Promise<VerificationPart> {
  const { manifest, summary } = rollout;
  const total = manifest.examples.count;
  const opened = await reached(async () => ({
    dataset: await datasetFile(rollout, options),
    policy: await openRecordedPolicy(manifest, options),
  }));
  if ("why" in opened) return impossible("sample", total, opened.why);
  const { dataset, policy } = opened.value;
  try {
    const comparison = new Comparison();
    comparePolicy(comparison, manifest, policy);
    const content = Object.values(summary.files)[0] ?? "";
    const again = { ...options, total, content, comparison };
    const done = await reached(() =>
      sampleAgain(policy, rowsOf(rollout, dataset, comparison), again),
    );
    return "why" in done ? impossible("sample", total, done.why) : done.value;
  } finally {
    await policy.close();
  }
}

async function exposureOf(rollout: Rollout, options: SampleOptions): Promise<VerificationPart> {
  const { manifest } = rollout;
  const found = await reached(async () => ({
    dataset: await datasetFile(rollout, options),
    checkpoint: await findRecordedCheckpoint(manifest, options, NO_HISTORY),
  }));
  if ("why" in found) return skipped("exposure", found.why);
  const { dataset, checkpoint } = found.value;
  const rows = rowsOf(rollout, dataset);
  return verifyExposure(manifest.exposure, checkpoint.seen ?? undefined, rows, true);
}

function datasetFile({ manifest }: Rollout, places: Places): Promise<string> {
  return findFile("data set", manifest.inputs[0] ?? { path: null, sha256: "" }, places);
}

/** Answers are written in the order of the data set, so both are read side by side. */
async function* rowsOf(
  rollout: Rollout,
  dataset: string,
  comparison?: Comparison,
): AsyncGenerator<SampledRow[], void, void> {
  const examples = new RowCursor(examplesIn(dataset));
  try {
    for await (const batch of rollout.answers().batches()) {
      const rows: SampledRow[] = [];
      for (const answer of batch) {
        const { id, prompt } = examples.buffered() ?? (await examples.read()) ?? NO_EXAMPLE;
        const print = answer.prompt_fingerprint;
        if (id !== answer.id) comparison?.differs(String(answer.id), "id", id, answer.id);
        else if (print !== undefined && print !== promptFingerprint(prompt))
          comparison?.differs(id, "prompt_fingerprint", promptFingerprint(prompt), print);
        else rows.push({ id, prompt, answers: answersOf(answer) });
      }
      yield rows;
    }
  } finally {
    await examples.close();
  }
}

const NO_EXAMPLE = { id: "", prompt: "" };

function answersOf({ id: _id, prompt_fingerprint: _print, ...row }: JsonObject): JsonObject[] {
  return Array.isArray(row.samples) ? row.samples : [row];
}
