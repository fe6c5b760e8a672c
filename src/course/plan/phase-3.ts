/** Phase 3: more than one thing is wanted, and what each costs is known. */

import { type Criterion, met, missing } from "./criterion.ts";
import { leashSweep } from "./phase-2.ts";
import { readSweep } from "./sweeps.ts";
import type { Training } from "./training.ts";
import {
  alarming,
  atLeastMeasured,
  beyondDoubt,
  type Doubt,
  evidenceOf,
  learn,
} from "./training-criterion.ts";
import { near } from "./training-figures.ts";
import { rewarding, SAMPLING, setting, weightOf } from "./training-settings.ts";

/** Rewards by scorers that are not the same one twice. */
function objectivesOf({ manifest }: Training): string[] {
  const rewards = rewarding(manifest);
  const names = new Set(rewards.map(({ name }) => String(name)));
  const sources = new Set(rewards.map(({ source_sha256: source }) => source));
  return sources.size < 2 ? [] : [...names];
}

/** Several scorers were added up by their weights at every step. */
function addsUp(training: Training): boolean {
  const names = objectivesOf(training);
  const rewards = rewarding(training.manifest);
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

/** A price that rose while the limit was broken and fell while it was kept, step by step. */
function keepsPrice({ manifest, records }: Training): boolean {
  const [limit, rate, start] = ["limit", "rate", "start"].map((name) =>
    Number(setting(manifest, `cost.${name}`) ?? Number.NaN),
  ) as [number, number, number];
  if (!manifest.scorers.some(({ role }) => role === "cost") || Number.isNaN(limit)) return false;
  let price = start;
  return records.steps.every(({ values }) => {
    const cost = values["cost/mean"] ?? Number.NaN;
    const holds =
      near(values["cost/lambda"] ?? Number.NaN, price) && values["cost/limit"] === limit;
    price = Math.max(0, price + rate * (cost - limit));
    return holds && !Number.isNaN(cost);
  });
}

const single: Doubt = (training) =>
  addsUp(training) || keepsPrice(training)
    ? undefined
    : "it has neither two scorers that add up to its reward nor a cost with a price.";

const several: Criterion = {
  id: "several_objectives",
  title: "A run with several objectives, or with a constraint",
  async check(place) {
    const doubts = [single, atLeastMeasured(2), alarming];
    const { runs, found } = await beyondDoubt(place, SAMPLING, ...doubts);
    const [run] = runs;
    if (run) return met(evidenceOf(run, wanted(run)));
    return missing(
      "a finished, whole policy-gradient run with two different scorers that reward, or with a cost scorer and a limit",
      found,
      "Write a second scorer, as brevity.ts, and train with both:",
      `${learn(place, "train grpo", "runs/both", 50)} --scorer ${place.config.scorer} --scorer brevity.ts`,
    );
  },
};

function wanted(run: Training): string {
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
  async check(place) {
    const sweeps = place.trainings.files.filter((file) => /\/sweep\.json$/.test(file));
    let found = "no sweep in runs/";
    for (const [i, file] of sweeps.entries()) {
      const sweep = await readSweep(place, file, MIN_POINTS);
      if (typeof sweep !== "string") {
        const figure = `${sweep.points} runs over ${sweep.over}, exact KL from ${sweep.least.toFixed(4)} to ${sweep.most.toFixed(4)}`;
        return met({ path: file, figure });
      }
      if (i === 0) found = sweep;
    }
    return missing(
      `a sweep in runs/ over ${MIN_POINTS} values or more, whose runs are whole and say what sweep.json says`,
      found,
      "Train once for each value:",
      leashSweep(place),
    );
  },
};

export const PHASE_3: readonly Criterion[] = [several, curve];
