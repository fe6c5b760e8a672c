/** The episodes that a rejection-sampling run in an environment kept, counted again. */

import path from "node:path";
import { JsonlFile, KEPT } from "../../runs/index.ts";
import { inputOf, setting, type Training } from "./training.ts";
import { near } from "./training-consistency.ts";

interface KeptEpisode {
  readonly id: string;
  readonly reward: number;
}

function toEpisode({ id, reward, completions }: Record<string, unknown>): KeptEpisode {
  if (typeof id === "string" && typeof reward === "number" && Array.isArray(completions))
    return { id, reward };
  throw new TypeError("a kept episode needs an id, a reward and completions");
}

/** What is wrong with the kept episodes. Their rewards are the environment's, which `verify` asks again. */
export async function problemInKeptEpisodes(
  dir: string,
  { path: name, manifest, records }: Training,
): Promise<string | undefined> {
  const kept: KeptEpisode[] = [];
  const file = new JsonlFile(path.join(dir, name, KEPT), toEpisode, { regular: true });
  for await (const batch of file.batches()) kept.push(...batch);
  const counts = new Map<string, number>();
  for (const { id } of kept) counts.set(id, (counts.get(id) ?? 0) + 1);
  const share = counts.size / (inputOf(manifest, "examples")?.rows ?? Number.NaN);
  const agrees = records.steps.every(
    ({ values }) =>
      values["kept/episodes"] === kept.length && near(values["kept/prompts"] ?? Number.NaN, share),
  );
  if (kept.length === 0 || !agrees)
    return `It was edited: ${KEPT} has ${kept.length} episodes of ${counts.size} tasks, and metrics.jsonl has other counts.`;
  const most = Number(setting(manifest, "algorithm.keep"));
  const least = setting(manifest, "algorithm.threshold");
  const valid =
    [...counts.values()].every((count) => count <= most) &&
    kept.every(({ reward }) => typeof least !== "number" || reward >= least);
  return valid ? undefined : `It was edited: ${KEPT} has episodes that would not have been kept.`;
}
