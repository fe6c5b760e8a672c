/** Completions for the drill: stored rollouts, and samples of a policy that learned to cheat. */

import path from "node:path";
import {
  type Completion,
  type Example,
  rngAt,
  type SelectionPack,
  toCompletion,
  toSelectionPack,
} from "../../core/index.ts";
import {
  initialGoodhartPolicy,
  naiveVerifier,
  optimiseProxy,
  type Question,
  writeCompletion,
} from "../../learn/index.ts";
import { JsonlFile } from "../../runs/index.ts";
import { PACKAGE_ROOT } from "../workspace.ts";

export const frozenAnswers = (examples: readonly Example[]) =>
  stored("frozen_rollouts_dev.jsonl", toCompletion, examples);

export const samplePacks = (examples: readonly Example[]) =>
  stored<SelectionPack>("selection_pack_dev.jsonl", toSelectionPack, examples);

/** One sample of each pack, as the answers of a policy. */
export async function sampledAnswers(
  examples: readonly Example[],
  index: number,
): Promise<Completion[]> {
  const textOf = (sample: SelectionPack["samples"][number] | undefined) =>
    typeof sample === "string" ? sample : (sample?.completion ?? "");
  const packs = await samplePacks(examples);
  return packs.map(({ id, samples }) => ({ id, completion: textOf(samples[index]) }));
}

const SHARE_OF_OTHERS = 0.1;

/** The frozen answers, with another sample for a few of the examples. */
export async function fewOtherAnswers(
  examples: readonly Example[],
  seed: number,
): Promise<Completion[]> {
  const others = new Map((await sampledAnswers(examples, 0)).map((one) => [one.id, one]));
  const isOther = (id: string) => rngAt(seed, "drill", "other", id).next() < SHARE_OF_OTHERS;
  return (await frozenAnswers(examples)).map((one) =>
    isOther(one.id) ? (others.get(one.id) ?? one) : one,
  );
}

async function stored<T extends { readonly id: string }>(
  name: string,
  parse: (fields: Record<string, unknown>) => T,
  examples: readonly Example[],
): Promise<T[]> {
  const wanted = new Set(examples.map(({ id }) => id));
  const rows: T[] = [];
  const file = new JsonlFile(path.join(PACKAGE_ROOT, "data/rollouts", name), parse);
  for await (const batch of file.batches()) rows.push(...batch.filter(({ id }) => wanted.has(id)));
  return rows;
}

/** Samples of a policy before and after it was optimised against the naive verifier. */
export function hackedAnswers(
  examples: readonly Example[],
  seed: number,
  updates: number,
): [before: Completion[], after: Completion[]] {
  const problems: Question[] = examples.map(({ id, prompt, expected_answer }) => ({
    ...{ id, prompt },
    answer: Number(expected_answer),
  }));
  const [last] = optimiseProxy({
    ...{ problems, seed, proxy: naiveVerifier, truth: naiveVerifier },
    ...{ lr: 1, batch: 64, levels: [updates] },
  });
  const write = (policy = initialGoodhartPolicy) =>
    problems.map((problem) => ({
      id: problem.id,
      completion: writeCompletion(policy, problem, [seed, "drill", problem.id]).completion,
    }));
  return [write(), write(last?.policy)];
}
