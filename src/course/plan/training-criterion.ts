/** What the criteria about training share: how a run is found, and the commands that make one. */

import { existsSync } from "node:fs";
import path from "node:path";
import type { Evidence, Place } from "./criterion.ts";
import type { Training } from "./training.ts";

/** A sentence against a run that is whole. */
export type Doubt = (training: Training) => string | undefined | Promise<string | undefined>;

/** All runs of these algorithms against which nothing speaks; and what speaks against another. */
export async function beyondDoubt(
  { trainings }: Place,
  algorithms: readonly string[],
  ...doubts: readonly Doubt[]
): Promise<{ readonly runs: readonly Training[]; readonly found: string }> {
  const runs: Training[] = [];
  const problems: string[] = [];
  for (const { path: name, algorithm } of trainings.known) {
    if (!algorithms.includes(algorithm)) continue;
    const opened = await trainings.open(name);
    const problem = typeof opened === "string" ? opened : await firstOf(doubts, opened);
    if (problem !== undefined) problems.push(`${name}: ${problem}`);
    else runs.push(opened as Training);
  }
  return { runs, found: problems[0] ?? `no run of ${algorithms.join(", ")} in runs/` };
}

async function firstOf(doubts: readonly Doubt[], training: Training): Promise<string | undefined> {
  for (const doubt of doubts) {
    const problem = await doubt(training);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A plateau is what somebody asked to stop at; every other alarm that ends runs is trouble. */
export const alarming: Doubt = ({ records: { alarms = [] } }) => {
  const trouble = alarms.find(({ alarm, stops }) => stops && alarm !== "plateau");
  return trouble && `the alarm ${trouble.alarm} was raised at step ${trouble.step}.`;
};

export const fromScratch: Doubt = ({ manifest }) =>
  manifest.init_fingerprint === null ? "it began from scratch, not with a checkpoint." : undefined;

export const atLeastMeasured =
  (count: number): Doubt =>
  ({ records: { evaluations } }) =>
    evaluations.length >= count
      ? undefined
      : `it was measured ${evaluations.length} times on a dev set, not ${count} times.`;

/** The summary, which seals the other files of a run. */
export const evidenceOf = ({ path: name }: Training, figure: string): Evidence => ({
  path: `${name}/summary.json`,
  figure,
});

const [TRAIN, DEV] = ["data/datasets/math_train.jsonl", "data/datasets/math_dev.jsonl"];
const START = "pi0";

/** A command that trains on the shipped examples into a folder that is still free. */
export function learn({ dir }: Place, what: string, name: string, steps: number): string {
  return `./lockedroom ${what} --init ${START} --dataset ${TRAIN} --dev ${DEV} --steps ${steps} --outdir ${free(dir, name)}`;
}

/** The next command on the way from samples over pairs to a DPO run. */
export function learnFromPairs(place: Place): string {
  const { dir, trainings } = place;
  const pairs = trainings.folderWith("pairs", "pairs.jsonl");
  const samples = trainings.folderWith("rollout", "samples.jsonl");
  if (pairs !== undefined)
    return `./lockedroom train dpo --init ${START} --dataset ${pairs}/pairs.jsonl --dev ${DEV} --steps 100 --outdir ${free(dir, "runs/dpo")}`;
  if (samples !== undefined)
    return `./lockedroom pairs --dataset ${TRAIN} --rollouts ${samples}/samples.jsonl --outdir ${free(dir, "runs/pairs")}`;
  return `./lockedroom rollout --policy ${START} --dataset ${TRAIN} --n 8 --max-tokens 32 --outdir ${free(dir, "runs/samples")}`;
}

/** The name, or the first of name-2, name-3, … that nothing has yet. */
function free(dir: string, name: string): string {
  for (let n = 1; ; n++) {
    const numbered = n === 1 ? name : `${name}-${n}`;
    if (!existsSync(path.join(dir, numbered))) return numbered;
  }
}
