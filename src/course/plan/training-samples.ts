/** The samples of a training run, scored again: records can be edited to agree, a scorer cannot. */

import { existsSync } from "node:fs";
import path from "node:path";
import { type JsonObject, SCORER_ERROR } from "../../core/index.ts";
import { JsonlFile, KEPT } from "../../runs/index.ts";
import { changed, type Examples, type WorkspaceScorers } from "../run-verifier.ts";
import { problemInKeptEpisodes } from "./kept-episodes.ts";
import {
  inputOf,
  isPlayed,
  rewardScorers,
  setting,
  type Training,
  validationScorer,
  weightOf,
} from "./training.ts";
import { near } from "./training-consistency.ts";

/** What is wrong with the samples of the evaluations. */
export async function problemInSamples(
  { manifest, records: { samples } }: Training,
  scorers: WorkspaceScorers,
): Promise<string | undefined> {
  const [input, scorer] = [inputOf(manifest, "dev"), validationScorer(manifest)];
  const examples = input && (await scorers.examples(input));
  if (!examples || !scorer || samples.length === 0) return undefined;
  const order = [...examples.values()];
  let [place, last] = [0, -1];
  for (const { step, id, prompt } of samples) {
    place = step === last ? place + 1 : 0;
    last = step;
    if (order[place]?.id !== id || order[place]?.prompt !== prompt)
      return `It was edited: samples.jsonl has another prompt for ${id} than its data set.`;
  }
  const scores = await scoresOf(scorers, scorer.identity, examples, samples);
  const at = samples.findIndex(
    ({ reward, code }, i) => scores && (scores[i]?.reward !== reward || scores[i]?.code !== code),
  );
  const [then, now] = [samples[at], scores?.[at]];
  if (!then || !now || now.code === SCORER_ERROR) return undefined;
  return `It was edited: ${then.id} at step ${then.step} ${changed(then, now)}.`;
}

interface Sample {
  readonly id: string;
  readonly completion: string;
}

/** What a scorer gives now; undefined where this version of it, or an example, is not here. */
async function scoresOf(
  scorers: WorkspaceScorers,
  identity: JsonObject,
  examples: Examples,
  samples: readonly Sample[],
) {
  const scoring = await scorers.scorer(identity);
  const requests = samples.flatMap(({ id, completion }) => {
    const example = examples.get(id);
    return example ? [{ example, completion }] : [];
  });
  return requests.length === samples.length ? scoring?.scoreBatch(requests) : undefined;
}

interface Kept extends Sample {
  readonly prompt: string;
}

/** What is wrong with the samples that a rejection-sampling run kept. */
export async function problemInKept(dir: string, training: Training, scorers: WorkspaceScorers) {
  const file = path.join(dir, training.path, KEPT);
  if (!existsSync(file)) return `${KEPT} is missing.`;
  if (isPlayed(training.manifest)) return problemInKeptEpisodes(dir, training);
  const kept: Kept[] = [];
  for await (const batch of new JsonlFile(file, toKept, { regular: true }).batches())
    kept.push(...batch);
  return miscounted(training, kept) ?? (await unrewarded(training, kept, scorers));
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
    return `It was edited: ${KEPT} has ${kept.length} samples of ${prompts} prompts, and metrics.jsonl has other counts.`;
  const most = Number(setting(manifest, "algorithm.keep"));
  const counts = new Map<string, Set<string>>();
  for (const { id, completion } of kept)
    counts.set(id, (counts.get(id) ?? new Set()).add(completion));
  const different = [...counts.values()].reduce((sum, { size }) => sum + size, 0);
  const valid = different === kept.length && [...counts.values()].every(({ size }) => size <= most);
  return valid ? undefined : `It was edited: ${KEPT} has samples that would not have been kept.`;
}

/** If the scorers and the examples are here, every sample must reach the threshold again. */
async function unrewarded(
  { manifest }: Training,
  kept: readonly Kept[],
  scorers: WorkspaceScorers,
): Promise<string | undefined> {
  const input = inputOf(manifest, "examples");
  const examples = input && (await scorers.examples(input));
  if (!examples) return undefined;
  const unknown = kept.find(({ id, prompt }) => examples.get(id)?.prompt !== prompt);
  if (unknown) return `It was edited: ${unknown.id} of ${KEPT} is not in its data set.`;
  let totals = kept.map(() => 0);
  for (const [i, identity] of rewardScorers(manifest).entries()) {
    const scores = await scoresOf(scorers, identity, examples, kept);
    if (!scores || scores.some(({ code }) => code === SCORER_ERROR)) return undefined;
    const weight = weightOf(manifest, i);
    totals = totals.map((total, row) => total + weight * Number(scores[row]?.reward));
  }
  const least = Number(setting(manifest, "algorithm.threshold"));
  const at = totals.findIndex((total) => total < least && !near(total, least));
  if (at < 0) return undefined;
  return `It was edited: ${kept[at]?.id} of ${KEPT} has a reward of ${totals[at]}, below ${least}.`;
}
