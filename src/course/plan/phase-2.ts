/** Phase 2: learning from what graders reward, stable, on a leash. */

import { type Criterion, met, missing } from "./criterion.ts";
import { problemInKept } from "./kept-samples.ts";
import type { Training } from "./training.ts";
import {
  alarming,
  atLeastMeasured,
  beyondDoubt,
  type Doubt,
  evidenceOf,
  fromScratch,
  learn,
} from "./training-criterion.ts";
import { kindOf, rewarding, SAMPLING, setting } from "./training-settings.ts";

const unrewarded: Doubt = ({ manifest }) =>
  rewarding(manifest).length > 0 ? undefined : "no scorer rewarded it.";

const rft: Criterion = {
  id: "rft_run",
  title: "A finished RFT run, rewarded by graders",
  async check(place) {
    const { dir, trainings } = place;
    const kept: Doubt = (training) => problemInKept(dir, training, trainings.rejudge);
    const doubts = [fromScratch, unrewarded, kept, atLeastMeasured(2), alarming];
    const { runs, found } = await beyondDoubt(place, ["rft"], ...doubts);
    const [run] = runs;
    if (run) {
      const texts = run.records.steps[0]?.values["kept/texts"];
      const figure = `${run.summary.steps} steps on ${texts} samples that were rewarded`;
      return met(evidenceOf(run, figure), {
        path: `${run.path}/kept.jsonl`,
        figure: "the samples",
      });
    }
    return missing(
      "a finished, whole RFT run in runs/ with the samples that its scorer rewarded, measured on a dev set",
      found,
      "Train:",
      learn(place, "train rft", "runs/rft", 100),
    );
  },
};

const MIN_POINTS = 3;
/** Of each step, where the policy is sampled as it learns. */
const CURVES = ["reward/mean", "kl/k3", "entropy", "length/mean"];

const curveless: Doubt = ({ manifest, records: { steps, evaluations } }) => {
  const names = SAMPLING.includes(manifest.algorithm) ? CURVES : ["loss", "entropy"];
  const lost = names.find((name) => steps.some(({ values }) => values[name] === undefined));
  if (lost !== undefined) return `metrics.jsonl has no ${lost} at some steps.`;
  return evaluations.some(({ kl_exact: kl }) => kl === null)
    ? "its KL to the start was not measured."
    : undefined;
};

const stability: Criterion = {
  id: "stability_diagnostics",
  title: "Its stability curves: reward, KL, entropy and length, step by step",
  async check(place) {
    const doubts = [unrewarded, curveless, atLeastMeasured(MIN_POINTS), alarming];
    const { runs, found } = await beyondDoubt(place, ["rft", ...SAMPLING], ...doubts);
    const [run] = runs;
    if (run) {
      const { length } = run.records.evaluations;
      const kl = finalKl(run)?.toFixed(4);
      return met(evidenceOf(run, `${length} evaluations, the last at a KL of ${kl}`));
    }
    return missing(
      `a finished, whole run of rft or a policy gradient with metrics of every step, measured at ${MIN_POINTS} steps or more on a dev set`,
      found,
      "Train:",
      `${learn(place, "train grpo", "runs/grpo", 50)} --eval-every 10`,
    );
  },
};

const finalKl = ({ records }: Training) => records.evaluations.at(-1)?.kl_exact ?? undefined;

/** The weight of the KL penalty, the same at every step; undefined where a controller moves it. */
function leash({ manifest }: Training): number | undefined {
  const [mode, strength] = [setting(manifest, "kl.mode"), setting(manifest, "kl.coefficient")];
  if (mode === "none") return 0;
  return mode === "fixed" && typeof strength === "number" ? strength : undefined;
}

const unleashed: Doubt = (training) => {
  const strength = leash(training);
  const said = ({ values }: { values: Readonly<Record<string, number>> }) =>
    values["kl/coefficient"] === strength;
  return strength !== undefined && training.records.steps.every(said)
    ? undefined
    : "its KL coefficient is not the same at every step.";
};

const controlled: Criterion = {
  id: "kl_controlled_for_real",
  title: "KL control of a real policy: a stronger leash, less drift",
  async check(place) {
    const doubts = [fromScratch, unleashed, atLeastMeasured(2), alarming];
    const { runs, found } = await beyondDoubt(place, SAMPLING, ...doubts);
    let why: string | undefined;
    for (const alike of groupsOf(runs)) {
      const [weak, strong] = [alike[0], alike.at(-1)] as [Training, Training];
      const [loose, tight] = [finalKl(weak), finalKl(strong)].map(Number) as [number, number];
      const words = `coefficient ${leash(weak)} → ${leash(strong)}, exact KL ${loose.toFixed(4)} → ${tight.toFixed(4)}`;
      if (tight < loose)
        return met(evidenceOf(strong, words), evidenceOf(weak, "the weaker leash"));
      why ??= `${strong.path}: ${words}`;
    }
    const alone = `${runs.length} runs, of which no two differ only in the KL coefficient`;
    return missing(
      "two runs of one policy gradient with the same start, data, seed and settings but for the KL coefficient, where the larger one ends with the smaller exact KL",
      why ?? (runs.length > 0 ? alone : found),
      "Train once for each strength:",
      leashSweep(place),
    );
  },
};

export const leashSweep = (place: Parameters<typeof learn>[0]) =>
  learn(place, "sweep grpo --over kl.coefficient=0,0.03,0.3 --set kl.mode=fixed", "runs/leash", 40);

/** Runs that differ in nothing but the leash, the weakest first; at least two strengths. */
function groupsOf(runs: readonly Training[]): Training[][] {
  const groups = new Map<string, Training[]>();
  for (const run of runs) {
    const kind = `${run.summary.steps} ${kindOf(run.manifest, ["kl.mode", "kl.coefficient"])}`;
    groups.set(kind, [...(groups.get(kind) ?? []), run]);
  }
  const strength = (run: Training | undefined) => (run && leash(run)) ?? 0;
  return [...groups.values()]
    .map((group) => group.sort((a, b) => strength(a) - strength(b)))
    .filter((group) => strength(group[0]) < strength(group.at(-1)));
}

const MIN_STRENGTHS = 3;

const microscope: Criterion = {
  id: "kl_under_the_microscope",
  title: "The KL leash understood in the small: a sweep of its strength",
  async check({ shelf }) {
    const found = await shelf.firstSound(({ run }) => run.manifest.command === "kl-tradeoff-demo");
    const expected = `a finished, whole kl-tradeoff-demo run with ${MIN_STRENGTHS} strengths or more`;
    const command = "./lockedroom kl-tradeoff-demo --outdir runs/kl --plot";
    if (!found) return missing(expected, "no such run in runs/", "Run it:", command);
    /** By row, and each row is one strength. */
    const drifts = new Map<string, number>();
    for await (const batch of found.run.results().batches()) {
      for (const { id, details } of batch) {
        const kl = (details as { kl?: unknown } | null)?.kl;
        if (typeof kl === "number") drifts.set(id, kl);
      }
    }
    if (drifts.size < MIN_STRENGTHS)
      return missing(expected, `${found.path} has ${drifts.size} strengths`, "Run it:", command);
    const [least, most] = [Math.min(...drifts.values()), Math.max(...drifts.values())];
    const figure = `KL from ${least.toFixed(4)} to ${most.toFixed(4)} nats over ${drifts.size} strengths`;
    return met({ path: `${found.path}/summary.json`, figure });
  },
};

export const PHASE_2: readonly Criterion[] = [rft, stability, microscope, controlled];
