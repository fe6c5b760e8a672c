/** Phase 3: several objectives or a constraint, and the trade-off between them. */

import { type Criterion, met, missing } from "./criterion.ts";
import { readSweep } from "./sweeps.ts";
import type { Training } from "./training.ts";
import { near } from "./training-consistency.ts";
import {
  evaluatedAtLeast,
  evidenceOf,
  klSweepCommand,
  noStoppingAlarm,
  type Requirement,
  trainCommand,
  trainingCriterion,
} from "./training-criterion.ts";
import { ON_POLICY, rewardScorers, setting, weightOf } from "./training-settings.ts";

/** The names of the reward scorers, if they differ. */
function objectivesOf({ manifest }: Training): string[] {
  const rewards = rewardScorers(manifest);
  const names = new Set(rewards.map(({ name }) => String(name)));
  const sources = new Set(rewards.map(({ source_sha256: source }) => source));
  return sources.size < 2 ? [] : [...names];
}

/** The reward is the weighted sum of several scorers at every step. */
function addsUp(training: Training): boolean {
  const names = objectivesOf(training);
  const rewards = rewardScorers(training.manifest);
  if (names.length < 2 || names.length !== rewards.length) return false;
  return training.records.steps.every(({ values }) => {
    const total = names.reduce(
      (sum, name, i) =>
        sum + weightOf(training.manifest, i) * (values[`reward/${name}`] ?? Number.NaN),
      0,
    );
    return near(total, values["reward/mean"] ?? Number.NaN);
  });
}

/** The multiplier rises while the cost exceeds its limit and falls otherwise, at every step. */
function updatesMultiplier({ manifest, records }: Training): boolean {
  const [limit, rate, start] = ["limit", "rate", "start"].map((name) =>
    Number(setting(manifest, `cost.${name}`) ?? Number.NaN),
  ) as [number, number, number];
  if (!manifest.scorers.some(({ role }) => role === "cost") || Number.isNaN(limit)) return false;
  let multiplier = start;
  return records.steps.every(({ values }) => {
    const cost = values["cost/mean"] ?? Number.NaN;
    const holds =
      near(values["cost/lambda"] ?? Number.NaN, multiplier) && values["cost/limit"] === limit;
    multiplier = Math.max(0, multiplier + rate * (cost - limit));
    return holds && !Number.isNaN(cost);
  });
}

const hasSeveral: Requirement = (training) =>
  addsUp(training) || updatesMultiplier(training)
    ? undefined
    : "it has neither two scorers that add up to its reward nor a cost with a limit.";

const several = trainingCriterion({
  id: "several_objectives",
  title: "A run with several objectives, or with a constraint",
  algorithms: ON_POLICY,
  requirements: () => [hasSeveral, evaluatedAtLeast(2), noStoppingAlarm],
  evidence: (run) => [evidenceOf(run, lastObjectives(run))],
  expected:
    "a finished, intact policy-gradient run with two different reward scorers, or with a cost scorer and a limit",
  next: "Write a second scorer, as brevity.ts, and train with both:",
  command: (context) =>
    `${trainCommand(context, "train grpo", "runs/both", 50)} --scorer ${context.config.scorer} --scorer brevity.ts`,
});

function lastObjectives(run: Training): string {
  const last = run.records.steps.at(-1)?.values ?? {};
  if (!addsUp(run))
    return `cost ${last["cost/mean"]?.toFixed(4)} at a limit of ${last["cost/limit"]}`;
  const rewards = objectivesOf(run).map((name) => `${name} ${last[`reward/${name}`]?.toFixed(4)}`);
  return `rewards of the last step: ${rewards.join(", ")}`;
}

const MIN_POINTS = 3;

const curve: Criterion = {
  id: "tradeoff_curve",
  title: "The trade-off as a curve over several runs",
  async check(context) {
    const sweeps = context.trainings.files.filter((file) => /\/sweep\.json$/.test(file));
    let found = "no sweep in runs/";
    for (const [i, file] of sweeps.entries()) {
      const sweep = await readSweep(context, file, MIN_POINTS);
      if (typeof sweep !== "string") {
        const figure = `${sweep.points} runs over ${sweep.over}, exact KL from ${sweep.least.toFixed(4)} to ${sweep.most.toFixed(4)}`;
        return met({ path: file, figure });
      }
      if (i === 0) found = sweep;
    }
    return missing(
      `a sweep in runs/ over ${MIN_POINTS} values or more, whose runs are intact and agree with sweep.json`,
      found,
      "Train once for each value:",
      klSweepCommand(context),
    );
  },
};

export const PHASE_3: readonly Criterion[] = [several, curve];
