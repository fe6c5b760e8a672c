/** Phase 3: several objectives or a constraint, and the trade-off between them. */

import path from "node:path";
import { canonicalJson } from "../../core/index.ts";
import { type SweepPoint, sweepSchema } from "../../runs/index.ts";
import { parseJson } from "../evidence.ts";
import { textOf } from "../workspace-files.ts";
import { type Criterion, met, missing, type PlanContext } from "./criterion.ts";
import {
  ON_POLICY,
  rewardScorers,
  setting,
  settingsFingerprint,
  type Training,
  weightOf,
} from "./training.ts";
import { ALL_DONE, near } from "./training-consistency.ts";
import {
  evaluatedAtLeast,
  evidenceOf,
  klSweepCommand,
  noStoppingAlarm,
  type Requirement,
  trainCommand,
  trainingCriterion,
} from "./training-criterion.ts";

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

/** The result of a sweep (how many runs, and their least and most exact KL), or why it is not valid. */
async function readSweep({ dir, trainings }: PlanContext, file: string, fewest: number) {
  const parsed = sweepSchema.safeParse(parseJson(textOf(dir, file)));
  if (!parsed.success) return `${file} is not what sweep writes.`;
  const { over, algorithm, points } = parsed.data;
  const runs: Training[] = [];
  for (const point of points) {
    const name = `${path.posix.dirname(file)}/${over}=${String(point.value)}`;
    const run = await trainings.open(name);
    if (typeof run === "string") return `${name}: ${run}`;
    if (run.manifest.algorithm !== algorithm || !agrees(run, over, point))
      return `${file}: the point ${String(point.value)} differs from its run.`;
    runs.push(run);
  }
  if (over === "seed") return `${file}: runs that differ only in the seed show no trade-off.`;
  const different = new Set(runs.map(({ summary }) => summary.metrics_sha256)).size;
  if (different < fewest) return `${file}: ${different} different runs, not ${fewest}.`;
  if (new Set(runs.map(({ manifest }) => settingsFingerprint(manifest, [over]))).size > 1)
    return `${file}: its runs differ in more than ${over}.`;
  const drifts = points.flatMap(({ kl_exact: kl }) => (kl === null ? [] : [kl]));
  return { over, points: different, least: Math.min(...drifts), most: Math.max(...drifts) };
}

function agrees(
  { manifest, summary, records }: Training,
  over: string,
  point: SweepPoint,
): boolean {
  const { value, run: _, stopped_by: stopped, ...figures } = point;
  const { evaluations } = records;
  const final = evaluations.find(({ step }) => step === summary.stop.kept) ?? evaluations.at(-1);
  return (
    canonicalJson(setting(manifest, over) ?? null) === canonicalJson(value) &&
    stopped === (summary.stop.reason === ALL_DONE ? null : summary.stop.reason) &&
    Object.entries(figures).every(
      ([name, figure]) => final?.[name as keyof typeof figures] === figure,
    )
  );
}

export const PHASE_3: readonly Criterion[] = [several, curve];
