/** The samples that a rejection-sampling run learned from: counted, and judged again. */

import { existsSync } from "node:fs";
import path from "node:path";
import { SCORER_ERROR } from "../../core/index.ts";
import { JsonlFile } from "../../runs/index.ts";
import type { Rejudge } from "./rejudge.ts";
import type { Training } from "./training.ts";
import { near } from "./training-figures.ts";
import { inputOf, rewarding, setting, weightOf } from "./training-settings.ts";

interface Kept {
  readonly id: string;
  readonly prompt: string;
  readonly completion: string;
}

const KEPT = "kept.jsonl";

/** What speaks against them, if anything does. */
export async function problemInKept(
  dir: string,
  training: Training,
  rejudge: Rejudge,
): Promise<string | undefined> {
  const file = path.join(dir, training.path, KEPT);
  if (!existsSync(file)) return `${KEPT} is gone.`;
  const kept: Kept[] = [];
  for await (const batch of new JsonlFile(file, toKept).batches()) kept.push(...batch);
  return miscounted(training, kept) ?? (await unrewarded(training, kept, rejudge));
}

function toKept({ id, prompt, completion }: Record<string, unknown>): Kept {
  if (typeof id === "string" && typeof prompt === "string" && typeof completion === "string")
    return { id, prompt, completion };
  throw new TypeError("a kept sample needs id, prompt and completion, all strings");
}

function miscounted({ manifest, records }: Training, kept: readonly Kept[]): string | undefined {
  const prompts = new Set(kept.map(({ prompt }) => prompt)).size;
  const share = prompts / (inputOf(manifest, "examples")?.rows ?? Number.NaN);
  const agrees = records.steps.every(
    ({ values }) =>
      values["kept/texts"] === kept.length && near(values["kept/prompts"] ?? Number.NaN, share),
  );
  if (kept.length === 0 || !agrees)
    return `It was edited: ${KEPT} has ${kept.length} samples of ${prompts} prompts, and metrics.jsonl says otherwise.`;
  const most = Number(setting(manifest, "algorithm.keep"));
  const counts = new Map<string, Set<string>>();
  for (const { id, completion } of kept)
    counts.set(id, (counts.get(id) ?? new Set()).add(completion));
  const different = [...counts.values()].reduce((sum, { size }) => sum + size, 0);
  const whole = different === kept.length && [...counts.values()].every(({ size }) => size <= most);
  return whole ? undefined : `It was edited: ${KEPT} has samples that would not have been kept.`;
}

/** Where the scorers and the examples are still here, every sample has to earn its place again. */
async function unrewarded(
  { manifest }: Training,
  kept: readonly Kept[],
  rejudge: Rejudge,
): Promise<string | undefined> {
  const input = inputOf(manifest, "examples");
  const examples = input && (await rejudge.examplesOf(input));
  if (!examples) return undefined;
  const stranger = kept.find(({ id, prompt }) => examples.get(id)?.prompt !== prompt);
  if (stranger) return `It was edited: ${stranger.id} of ${KEPT} is not in its data set.`;
  let totals = kept.map(() => 0);
  for (const [i, identity] of rewarding(manifest).entries()) {
    const judged = await rejudge.judge(identity, examples, kept);
    if (!judged || judged.some(({ code }) => code === SCORER_ERROR)) return undefined;
    const weight = weightOf(manifest, i);
    totals = totals.map((total, row) => total + weight * Number(judged[row]?.reward));
  }
  const least = Number(setting(manifest, "algorithm.threshold"));
  const at = totals.findIndex((total) => total < least && !near(total, least));
  if (at < 0) return undefined;
  return `It was edited: ${kept[at]?.id} of ${KEPT} has a reward of ${totals[at]}, below ${least}.`;
}
