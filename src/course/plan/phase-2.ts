/** Phase 2: reinforcement fine-tuning that completes, stays stable, and obeys a KL leash. */

import { type Criterion, met, missing } from "./criterion.ts";
import {
  curvesMissing,
  lastOfCurves,
  leashOf,
  RFT,
  soundTraining,
  summaryOf,
  trainedBy,
} from "./learning.ts";

const TRAIN = "Train one; ./lockedroom train --help says how.";
const FEWEST_STRENGTHS = 3;

const rft: Criterion = {
  id: "rft_run",
  title: "A finished RFT run, rewarded by graders",
  needs: ["train"],
  async check({ shelf }) {
    const found = await soundTraining(shelf, ...RFT);
    if (found) {
      const { metrics, scorer } = found.run.summary;
      const figure = `mean reward ${metrics.mean_reward?.toFixed(4)} by ${scorer.name}`;
      return met({ path: summaryOf(found), figure });
    }
    return missing(
      `a finished, whole run of train whose learning.algorithm is one of ${RFT.join(", ")}`,
      "no such run in runs/",
      TRAIN,
    );
  },
};

const stability: Criterion = {
  id: "stability_diagnostics",
  title: "Its stability curves: reward, KL, entropy and length, step by step",
  needs: ["train"],
  async check({ shelf }) {
    const found = await soundTraining(shelf, ...RFT);
    const expected = "an RFT run whose log of steps holds reward, kl, entropy and length";
    if (!found) return missing(expected, "no RFT run in runs/", TRAIN);
    const { file, last } = await lastOfCurves(found);
    const lost = curvesMissing(last);
    if (lost.length > 0) {
      const where = `${found.path}/${file}`;
      return missing(expected, `${where} has no ${lost.join(", ")}`, "Log them and train again.");
    }
    const figures = Object.entries(last).map(([name, value]) => `${name} ${value.toPrecision(3)}`);
    return met({ path: `${found.path}/${file}`, figure: `at the end ${figures.join(", ")}` });
  },
};

const microscope: Criterion = {
  id: "kl_under_the_microscope",
  title: "The KL leash understood in the small: a sweep of its strength",
  async check({ shelf }) {
    const found = await shelf.firstSound(({ run }) => run.manifest.command === "kl-tradeoff-demo");
    const expected = `a finished, whole kl-tradeoff-demo run with ${FEWEST_STRENGTHS} strengths or more`;
    const command = "lockedroom kl-tradeoff-demo --outdir runs/kl --plot";
    if (!found) return missing(expected, "no such run in runs/", "Run it:", command);
    const drifts: number[] = [];
    for await (const batch of found.run.results().batches()) {
      for (const { details } of batch) {
        const kl = (details as { kl?: unknown } | null)?.kl;
        if (typeof kl === "number") drifts.push(kl);
      }
    }
    if (drifts.length < FEWEST_STRENGTHS)
      return missing(expected, `${found.path} has ${drifts.length} strengths`, "Run it:", command);
    const [least, most] = [Math.min(...drifts), Math.max(...drifts)];
    const figure = `KL from ${least.toFixed(4)} to ${most.toFixed(4)} nats over ${drifts.length} strengths`;
    return met({ path: summaryOf(found), figure });
  },
};

const control: Criterion = {
  id: "kl_controlled_for_real",
  title: "KL control of a real policy: a stronger leash, less drift",
  needs: ["train"],
  async check({ shelf }) {
    const measured: { path: string; leash: number; kl: number }[] = [];
    for (const known of shelf.runs.filter(trainedBy(...RFT))) {
      const leash = leashOf(known);
      if (leash === undefined || (await shelf.problemOf(known)) !== undefined) continue;
      const { kl } = (await lastOfCurves(known)).last;
      if (kl !== undefined) measured.push({ path: summaryOf(known), leash, kl });
    }
    measured.sort((a, b) => a.leash - b.leash);
    const [weak, strong] = [measured[0], measured.at(-1)];
    if (weak && strong && weak.leash < strong.leash && weak.kl > strong.kl) {
      return met(
        ...[weak, strong].map(({ path, leash, kl }) => ({
          path,
          figure: `leash ${leash}, final KL ${kl.toPrecision(3)}`,
        })),
      );
    }
    return missing(
      "two RFT runs with different KL strengths, the stronger one ending with the smaller KL",
      `${measured.length} RFT runs with a strength and a logged KL`,
      "Train twice, with the KL strength as the only difference.",
    );
  },
};

export const PHASE_2: readonly Criterion[] = [rft, stability, microscope, control];
