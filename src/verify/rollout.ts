/** A rollout made again: its files, and its answers to the prompts of the data set. */

import type { JsonObject } from "../core/json.ts";
import { promptFingerprint } from "../core/prompt-fingerprint.ts";
import { openRollout, type Rollout } from "../runs/read-rollout.ts";
import { RowCursor } from "../runs/rows.ts";
import type { PartName, VerificationPart } from "../runs/verification.ts";
import { verifyExposure } from "./exposure.ts";
import { filesPart } from "./files.ts";
import { findFile, reached } from "./find-input.ts";
import { Comparison, impossible } from "./part.ts";
import { comparePolicy, openRecordedPolicy } from "./recorded-policy.ts";
import { type SampledRow, type SampleOptions, sampleAgain } from "./sample.ts";
import { examplesIn } from "./scored-rows.ts";
import { verifyTries } from "./tries.ts";

export async function verifyRollout(
  dir: string,
  asked: readonly PartName[],
  options: SampleOptions,
): Promise<VerificationPart[]> {
  const rollout = await openRollout(dir);
  const parts: VerificationPart[] = [];
  const files = 1 + Object.keys(rollout.summary.files).length;
  if (asked.includes("files"))
    parts.push(filesPart(await rollout.editedFiles(), files, "hashes, and the provenance"));
  if (asked.some((part) => part !== "files"))
    parts.push(...(await samplesOf(rollout, asked, options)));
  return parts;
}

async function samplesOf(
  rollout: Rollout,
  asked: readonly PartName[],
  options: SampleOptions,
): Promise<VerificationPart[]> {
  const { manifest } = rollout;
  const total = manifest.examples.count;
  const input = manifest.inputs[0] ?? { path: null, sha256: "" };
  const opened = await reached(async () => {
    const dataset = await findFile("data set", input, options);
    return { dataset, policy: await openRecordedPolicy(manifest, options) };
  });
  if ("why" in opened) return [impossible("sample", total, opened.why)];
  const { dataset, policy } = opened.value;
  try {
    const parts: VerificationPart[] = [];
    if (asked.includes("sample")) {
      const comparison = new Comparison();
      comparePolicy(comparison, manifest, policy);
      const content = Object.values(rollout.summary.files)[0] ?? "";
      const again = { ...options, total, content, comparison };
      const done = await reached(() =>
        sampleAgain(policy, rowsOf(rollout, dataset, comparison), again),
      );
      parts.push("why" in done ? impossible("sample", total, done.why) : done.value);
    }
    if (asked.includes("exposure")) {
      const rows = rowsOf(rollout, dataset);
      parts.push(await verifyExposure(manifest.exposure, policy.seen, rows, true));
    }
    if (asked.includes("tries"))
      parts.push(await verifyTries(manifest, policy, rowsOf(rollout, dataset)));
    return parts;
  } finally {
    await policy.close();
  }
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
