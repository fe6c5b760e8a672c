/** Phase 2: learning from graders, with stable curves and a KL penalty. */

import { type Criterion, met, missing } from "./criterion.ts";
import {
  isPlayed,
  ON_POLICY,
  rewardScorers,
  setting,
  settingsFingerprint,
  type Training,
} from "./training.ts";
import {
  evaluatedAtLeast,
  evidenceOf,
  klSweepCommand,
  noStoppingAlarm,
  pageMissing,
  qualifyingRuns,
  type Requirement,
  startsFromCheckpoint,
  trainCommand,
  trainingCriterion,
} from "./training-criterion.ts";
import { problemInKept } from "./training-samples.ts";

const hasRewards: Requirement = ({ manifest }) =>
  rewardScorers(manifest).length > 0 || isPlayed(manifest)
    ? undefined
    : "it has neither a scorer nor an environment for rewards.";

const rft = trainingCriterion({
  id: "rft_run",
  title: "A finished RFT run, rewarded by graders",
  algorithms: ["rft"],
  requirements: ({ dir, trainings }) => [
    ...[startsFromCheckpoint, hasRewards],
    (training) => problemInKept(dir, training, trainings.scorers),
    ...[evaluatedAtLeast(2), noStoppingAlarm],
  ],
  evidence: (run) => [
    evidenceOf(run, `${run.summary.steps} steps on ${keptBy(run)} rewarded samples`),
    { path: `${run.path}/kept.jsonl`, figure: "the samples" },
  ],
  expected:
    "a finished, intact RFT run in runs/ with the samples that its scorer rewarded, evaluated on a dev set",
  next: "Train:",
  command: (context) => trainCommand(context, "train rft", "runs/rft", 100),
});

/** Texts, or episodes of an environment. */
function keptBy({ records: { steps } }: Training): number | undefined {
  const { "kept/texts": texts, "kept/episodes": episodes } = steps[0]?.values ?? {};
  return texts ?? episodes;
}

const MIN_POINTS = 3;
/** Metrics of each step, for algorithms that sample from the policy. */
const CURVES = ["reward/mean", "kl/k3", "entropy", "length/mean"];

const logsCurves: Requirement = ({ manifest, records: { steps, evaluations } }) => {
  const names = ON_POLICY.includes(manifest.algorithm) ? CURVES : ["loss", "entropy"];
  const lost = names.find((name) => steps.some(({ values }) => values[name] === undefined));
  if (lost !== undefined) return `metrics.jsonl has no ${lost} at some steps.`;
  return evaluations.some(({ kl_exact: kl }) => kl === null)
    ? "its KL to the initial policy was not measured."
    : undefined;
};

const stability = trainingCriterion({
  id: "stability_diagnostics",
  title: "Its stability curves: reward, KL, entropy and length at every step",
  algorithms: ["rft", ...ON_POLICY],
  requirements: () => [hasRewards, logsCurves, evaluatedAtLeast(MIN_POINTS), noStoppingAlarm],
  evidence: (run) => {
    const { length } = run.records.evaluations;
    return [evidenceOf(run, `${length} evaluations, final KL ${finalKl(run)?.toFixed(4)}`)];
  },
  expected: `a finished, intact run of rft or a policy gradient with metrics of every step, evaluated at ${MIN_POINTS} steps or more on a dev set`,
  next: "Train:",
  command: (context) => `${trainCommand(context, "train grpo", "runs/grpo", 50)} --eval-every 10`,
});

const finalKl = ({ records }: Training) => records.evaluations.at(-1)?.kl_exact ?? undefined;

/** The KL coefficient if it is fixed; undefined where a controller changes it. */
function klCoefficient({ manifest }: Training): number | undefined {
  const [mode, value] = [setting(manifest, "kl.mode"), setting(manifest, "kl.coefficient")];
  if (mode === "none") return 0;
  return mode === "fixed" && typeof value === "number" ? value : undefined;
}

const fixedKlCoefficient: Requirement = (training) => {
  const coefficient = klCoefficient(training);
  const { steps } = training.records;
  return coefficient !== undefined &&
    steps.every(({ values }) => values["kl/coefficient"] === coefficient)
    ? undefined
    : "its KL coefficient is not the same at every step.";
};

const MIN_KL_STEPS = 10;
/** Of the two final KLs; closer ones are within what another seed changes. */
const MAX_KL_RATIO = 0.8;

const trainedEnough: Requirement = ({ summary: { steps } }) =>
  steps >= MIN_KL_STEPS ? undefined : `it has ${steps} steps, not ${MIN_KL_STEPS}.`;

const klControl: Criterion = {
  id: "kl_control",
  title: "KL control of a real policy: a larger coefficient, less drift",
  async check(context) {
    const requirements = [
      ...[startsFromCheckpoint, fixedKlCoefficient, trainedEnough],
      ...[evaluatedAtLeast(2), noStoppingAlarm],
    ];
    const { runs, found } = await qualifyingRuns(context, ON_POLICY, requirements);
    let why: string | undefined;
    for (const group of groupsOf(runs)) {
      const [weak, strong] = [group[0], group.at(-1)] as [Training, Training];
      const [loose, tight] = [finalKl(weak), finalKl(strong)].map(Number) as [number, number];
      const figure = `coefficient ${klCoefficient(weak)} → ${klCoefficient(strong)}, exact KL ${loose.toFixed(4)} → ${tight.toFixed(4)}`;
      if (tight <= MAX_KL_RATIO * loose && loose > 0) {
        const unreported = await pageMissing(context, [weak, strong]);
        if (unreported) return unreported;
        return met(evidenceOf(strong, figure), evidenceOf(weak, "the smaller coefficient"));
      }
      why ??= `${strong.path}: ${figure}`;
    }
    const alone = `${runs.length} runs, of which no two differ only in the KL coefficient`;
    return missing(
      `two runs of one policy gradient over ${MIN_KL_STEPS} steps or more that differ only in the KL coefficient, where the larger coefficient ends with an exact KL of at most ${MAX_KL_RATIO} of the other`,
      why ?? (runs.length > 0 ? alone : found),
      "Train once for each coefficient:",
      klSweepCommand(context),
    );
  },
};

/** Runs that differ only in the KL coefficient, smallest first; at least two coefficients. */
function groupsOf(runs: readonly Training[]): Training[][] {
  const groups = new Map<string, Training[]>();
  for (const run of runs) {
    const rest = settingsFingerprint(run.manifest, ["kl.mode", "kl.coefficient"]);
    const key = `${run.summary.steps} ${rest}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  const coefficient = (run: Training | undefined) => (run && klCoefficient(run)) ?? 0;
  return [...groups.values()]
    .map((group) => group.sort((a, b) => coefficient(a) - coefficient(b)))
    .filter((group) => coefficient(group[0]) < coefficient(group.at(-1)));
}

const MIN_BETAS = 3;

const klExperiment: Criterion = {
  id: "kl_tabular",
  title: "The KL penalty in a tabular experiment: a sweep over beta",
  async check({ runs }) {
    const found = await runs.firstValid(({ run }) => run.manifest.command === "kl-tradeoff-demo");
    const expected = `a finished, intact kl-tradeoff-demo run with ${MIN_BETAS} values of beta or more`;
    const command = "./lockedroom kl-tradeoff-demo --outdir runs/kl --plot";
    if (!found) return missing(expected, "no such run in runs/", "Run it:", command);
    /** By row, and each row is one beta. */
    const drifts = new Map<string, number>();
    for await (const batch of found.run.results().batches()) {
      for (const { id, details } of batch) {
        const kl = (details as { kl?: unknown } | null)?.kl;
        if (typeof kl === "number") drifts.set(id, kl);
      }
    }
    if (drifts.size < MIN_BETAS)
      return missing(expected, `${found.path} has ${drifts.size} values`, "Run it:", command);
    const [least, most] = [Math.min(...drifts.values()), Math.max(...drifts.values())];
    const figure = `KL from ${least.toFixed(4)} to ${most.toFixed(4)} nats over ${drifts.size} values of beta`;
    return met({ path: `${found.path}/summary.json`, figure });
  },
};

export const PHASE_2: readonly Criterion[] = [rft, stability, klExperiment, klControl];
