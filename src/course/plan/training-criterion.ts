/** What the criteria about training share: finding a run, and the commands that make one. */

import { existsSync } from "node:fs";
import path from "node:path";
import { DEV } from "../evidence.ts";
import {
  type Criterion,
  type Evidence,
  type Missing,
  met,
  missing,
  type PlanContext,
} from "./criterion.ts";
import type { Training } from "./training.ts";

/** What a run must satisfy beyond being intact; returns the problem. */
export type Requirement = (training: Training) => string | undefined | Promise<string | undefined>;

/** The runs of these algorithms that meet every requirement, and the first problem of another. */
export async function qualifyingRuns(
  { trainings }: PlanContext,
  algorithms: readonly string[],
  requirements: readonly Requirement[],
): Promise<{ readonly runs: readonly Training[]; readonly found: string }> {
  const runs: Training[] = [];
  const problems: string[] = [];
  for (const { path: name, algorithm } of trainings.known) {
    if (!algorithms.includes(algorithm)) continue;
    const opened = await trainings.open(name);
    const problem = typeof opened === "string" ? opened : await firstProblem(requirements, opened);
    if (problem !== undefined) problems.push(`${name}: ${problem}`);
    else runs.push(opened as Training);
  }
  return { runs, found: problems[0] ?? `no run of ${algorithms.join(", ")} in runs/` };
}

async function firstProblem(requirements: readonly Requirement[], training: Training) {
  for (const requirement of requirements) {
    const problem = await requirement(training);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

interface TrainingCriterion {
  readonly id: string;
  readonly title: string;
  readonly algorithms: readonly string[];
  requirements(context: PlanContext): readonly Requirement[];
  evidence(run: Training): readonly Evidence[];
  readonly expected: string;
  readonly next: string;
  command(context: PlanContext): string;
}

/** Runs without a page of their diagnostics: curves, win rate, failure modes and cost. */
export async function withoutPage(
  { pages }: PlanContext,
  runs: readonly Training[],
): Promise<{ readonly runs: readonly Training[]; readonly found: string }> {
  const lacking: Training[] = [];
  let problem: string | undefined;
  for (const run of runs) {
    const page = await pages.about(run);
    if (typeof page === "object") continue;
    lacking.push(run);
    problem ??= page;
  }
  const names = lacking.map((run) => run.path).join(", ");
  return { runs: lacking, found: problem ?? `no diagnostics page of ${names}` };
}

/** Missing because of the page alone. */
export async function pageMissing(
  context: PlanContext,
  runs: readonly Training[],
): Promise<Missing | undefined> {
  const lacking = await withoutPage(context, runs);
  if (lacking.runs.length === 0) return undefined;
  return missing(
    "a page in runs/ that `report` wrote about the run: curves, win rate, failure modes and cost",
    lacking.found,
    "Write it:",
    context.pages.command(runs),
  );
}

/** A criterion that one qualifying run with its diagnostics page meets. */
export function trainingCriterion(options: TrainingCriterion): Criterion {
  const { id, title, algorithms, requirements, evidence, expected, next, command } = options;
  return {
    id,
    title,
    async check(context) {
      const { runs, found } = await qualifyingRuns(context, algorithms, requirements(context));
      let unreported: Missing | undefined;
      for (const run of runs) {
        const page = await context.pages.about(run);
        if (typeof page === "object")
          return met(...evidence(run), { path: page.path, figure: "its diagnostics page" });
        unreported ??= await pageMissing(context, [run]);
      }
      return unreported ?? missing(expected, found, next, command(context));
    },
  };
}

export const noStoppingAlarm: Requirement = ({ records: { alarms = [] } }) => {
  const alarm = alarms.find(({ stops }) => stops);
  return alarm && `the alarm ${alarm.alarm} was raised at step ${alarm.step}.`;
};

export const startsFromCheckpoint: Requirement = ({ manifest }) =>
  manifest.init_fingerprint === null
    ? "it started from random weights, not from a checkpoint."
    : undefined;

export const evaluatedAtLeast =
  (count: number): Requirement =>
  ({ records: { evaluations } }) =>
    evaluations.length >= count
      ? undefined
      : `it was evaluated ${evaluations.length} times on a dev set, not ${count} times.`;

/** The summary, which has the hashes of the other files of a run. */
export const evidenceOf = ({ path: name }: Training, figure: string): Evidence => ({
  path: `${name}/summary.json`,
  figure,
});

const TRAIN = "data/datasets/math_train.jsonl";
const INIT = "pi0";

/** A command that trains on the shipped examples, into a new folder. */
export function trainCommand({ dir }: PlanContext, what: string, name: string, steps: number) {
  return `./lockedroom ${what} --init ${INIT} --dataset ${TRAIN} --dev ${DEV} --steps ${steps} --outdir ${unused(dir, name)}`;
}

export const klSweepCommand = (context: PlanContext) =>
  trainCommand(
    context,
    "sweep grpo --over kl.coefficient=0,0.03,0.3 --set kl.mode=fixed",
    "runs/kl-sweep",
    40,
  );

/** The next command on the way from samples through preference pairs to a DPO run. */
export function dpoCommand({ dir, trainings }: PlanContext): string {
  const [pairs] = trainings.foldersWith("pairs", "pairs.jsonl");
  const [samples] = trainings.foldersWith("rollout", "samples.jsonl");
  if (pairs !== undefined)
    return `./lockedroom train dpo --init ${INIT} --dataset ${pairs}/pairs.jsonl --dev ${DEV} --steps 100 --outdir ${unused(dir, "runs/dpo")}`;
  if (samples !== undefined)
    return `./lockedroom pairs --dataset ${TRAIN} --rollouts ${samples}/samples.jsonl --outdir ${unused(dir, "runs/pairs")}`;
  return `./lockedroom rollout --policy ${INIT} --dataset ${TRAIN} --n 8 --max-tokens 32 --outdir ${unused(dir, "runs/samples")}`;
}

/** The name, or the first of name-2, name-3, … that does not exist. */
function unused(dir: string, name: string): string {
  for (let n = 1; ; n++) {
    const numbered = n === 1 ? name : `${name}-${n}`;
    if (!existsSync(path.join(dir, numbered))) return numbered;
  }
}
