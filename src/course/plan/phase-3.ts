/** Phase 3: several objectives or a constraint, and the trade-off between them. */

import path from "node:path";
import { type Criterion, met, missing, type PlanContext } from "./criterion.ts";
import { differBeyondChance } from "./measured-difference.ts";
import { readSweep, readTradeoff } from "./sweeps.ts";
import { ON_POLICY, rewardScorers, setting, type Training, weightOf } from "./training.ts";
import { near } from "./training-consistency.ts";
import {
  evaluatedAtLeast,
  evidenceOf,
  noStoppingAlarm,
  pageMissing,
  type Requirement,
  trainCommand,
  trainingCriterion,
} from "./training-criterion.ts";

/** A scorer that conflicts with that of the arithmetic task: a third of the answers are negative. */
const SECOND = "unsigned.ts (1 for a text without a minus sign, otherwise 0; manual, page 25)";

const bothScorers = ({ config }: PlanContext) => `--scorer ${config.scorer} --scorer unsigned.ts`;

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
  next: `Write a second scorer, as ${SECOND}, and train with both:`,
  command: (context) =>
    `${trainCommand(context, "train grpo", "runs/both", 40)} --set "weights=[1,2]" ${bothScorers(context)}`,
});

function lastObjectives(run: Training): string {
  const last = run.records.steps.at(-1)?.values ?? {};
  if (!addsUp(run))
    return `cost ${last["cost/mean"]?.toFixed(4)} at a limit of ${last["cost/limit"]}`;
  const rewards = objectivesOf(run).map((name) => `${name} ${last[`reward/${name}`]?.toFixed(4)}`);
  return `rewards of the last step: ${rewards.join(", ")}`;
}

const MIN_POINTS = 3;
const MIN_OPTIMAL = 2;

const curve: Criterion = {
  id: "tradeoff_curve",
  title: "The trade-off as a curve: objective against objective or cost, one sweep",
  async check(context) {
    const sweeps = context.trainings.files.filter((file) => /\/sweep\.json$/.test(file));
    let found = "no sweep in runs/";
    for (const [i, file] of sweeps.entries()) {
      const traded = await tradedSweep(context, file);
      if (typeof traded !== "string") {
        const { tradeoff, runs } = traded;
        const unreported = await pageMissing(context, runs);
        if (unreported) return unreported;
        const { over, points, x, y } = tradeoff;
        const optimal = points.filter(({ pareto }) => pareto).length;
        const figure = `${y.label} against ${x.label} over ${over}: ${points.length} runs, ${optimal} of them Pareto-optimal`;
        return met({ path: file, figure }, { path: tradeoffFile(file), figure: "the curve" });
      }
      if (i === 0) found = traded;
    }
    return missing(
      `a sweep in runs/ of ${MIN_POINTS} runs or more with several objectives or a constraint, whose curve trades an objective for another or for a cost: ${MIN_POINTS} different points, and ${MIN_OPTIMAL} Pareto-optimal values that differ in both by more than chance`,
      found,
      `Write a second scorer that conflicts with the first, as ${SECOND}, and train once for each weight:`,
      trainCommand(
        context,
        `sweep grpo --over "weights=[1,0],[1,2],[1,4]" ${bothScorers(context)} --tradeoff reward:reward/unsigned`,
        "runs/tradeoff",
        40,
      ),
    );
  },
};

const tradeoffFile = (file: string) => `${path.posix.dirname(file)}/tradeoff.json`;

/** What a sweep may not be over: the KL is the subject of phase 2, and the others change no objective. */
const NO_TRADE = /^(?:kl\..+|seed|steps)$/;

/** Measures that say what an objective costs. The KL is the subject of phase 2. */
const COSTS = ["length", "tokens", "cost/mean"];
const OBJECTIVE = /^(?:reward|pass_rate|reward\/.+)$/;

/** A sweep that trades something, or why it is none. */
async function tradedSweep(context: PlanContext, file: string) {
  const sweep = await readSweep(context, file);
  if (typeof sweep === "string") return sweep;
  if (NO_TRADE.test(sweep.over))
    return `${file}: a sweep over ${sweep.over} trades no objective; sweep the weights of the scorers or the limit of the cost.`;
  if (sweep.different < MIN_POINTS)
    return `${file}: ${sweep.different} different runs, not ${MIN_POINTS}.`;
  const runs = sweep.runs.map(({ run }) => run);
  if (!runs.some((run) => hasSeveral(run) === undefined))
    return `${file}: its runs have neither several objectives nor a constraint.`;
  const tradeoff = readTradeoff(context, tradeoffFile(file), sweep);
  if (typeof tradeoff === "string") return tradeoff;
  const { x, y, points } = tradeoff;
  if (!OBJECTIVE.test(y.name) || !(OBJECTIVE.test(x.name) || COSTS.includes(x.name)))
    return `${file}: ${y.name} against ${x.name} is not an objective against an objective or a cost.`;
  const distinct = new Set(points.map((point) => `${point.x} ${point.y}`)).size;
  if (distinct < MIN_POINTS)
    return `${file}: ${distinct} different points of ${y.name} and ${x.name}, not ${MIN_POINTS}.`;
  const optimal = sweep.runs.filter((_, i) => points[i]?.pareto).map(({ run }) => run.records);
  if (optimal.length < MIN_OPTIMAL)
    return `${file}: ${optimal.length} Pareto-optimal value, so that nothing is traded.`;
  const traded = optimal.some((a) =>
    optimal.some((b) => [x.name, y.name].every((name) => differBeyondChance(a, b, name))),
  );
  if (!traded)
    return `${file}: no two Pareto-optimal values differ in both ${y.name} and ${x.name} by more than chance.`;
  return { tradeoff, runs };
}

export const PHASE_3: readonly Criterion[] = [several, curve];
