/** Recomputes the figures of a training run from its records: each has to agree. */

import { passes } from "../../core/index.ts";
import {
  ALL_STEPS_DONE,
  type EvaluationRecord,
  isBudget,
  isStopCondition,
  type TrainManifest,
} from "../../runs/index.ts";
import {
  inputOf,
  isPlayed,
  setting,
  settingsFingerprint,
  type Training,
  validationScorer,
} from "./training.ts";

/** Why its figures do not agree; undefined if they do. */
export function problemInFigures(training: Training): string | undefined {
  for (const check of CHECKS) {
    const problem = check(training);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

type Check = (training: Training) => string | undefined;

const edited = (what: string) => `It was edited: ${what}.`;

/** Sums in another order differ in the last digits. */
export function near(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
}

export const sabotaged: Check = ({ manifest }) => {
  const sabotage = setting(manifest, "sabotage");
  return sabotage === null ? undefined : `It was sabotaged on purpose: sabotage=${sabotage}.`;
};

const hashes: Check = ({ manifest, summary, records }) => {
  const isOwn = settingsFingerprint(manifest) === summary.manifest_sha256;
  const [file] = isOwn ? records.edited : ["manifest.json"];
  return file && edited(`${file} is not what was written with the run`);
};

const isEachStep = (rows: readonly { readonly step: number }[], steps: number) =>
  rows.length === steps && rows.every(({ step }, i) => step === i + 1);

/** The evaluation at the end has a line of its own in timing.jsonl. */
const lines: Check = ({ summary: { steps }, records: { steps: made, timing } }) => {
  const file = isEachStep(made, steps)
    ? isEachStep(timing.slice(0, steps), steps) || "timing.jsonl"
    : "metrics.jsonl";
  return file === true ? undefined : edited(`${file} lacks some of its ${steps} steps`);
};

const totals: Check = ({ summary, records: { steps, alarms = [] } }) => {
  const recomputed = {
    tokens: steps.reduce((sum, { values }) => sum + (values.tokens ?? Number.NaN), 0),
    first_loss: steps[0]?.values.loss,
    last_loss: steps.at(-1)?.values.loss,
    alarms: alarms.length,
  };
  for (const [name, found] of Object.entries(recomputed)) {
    const said = summary[name as keyof typeof recomputed];
    if (said !== found)
      return edited(`summary.json says ${name} ${said}, its records say ${found}`);
  }
  return undefined;
};

const ending: Check = ({ manifest, summary: { steps, stop }, records }) => {
  const [top] = [...records.evaluations].sort((a, b) => b.reward_mean - a.reward_mean);
  const stopped =
    (isStopCondition(stop.reason) && setting(manifest, `stop.${stop.reason}`) !== null) ||
    records.alarms?.some(
      ({ alarm, step, stops }) => stops && alarm === stop.reason && step === steps,
    );
  const whole =
    stop.reason === ALL_STEPS_DONE
      ? steps === setting(manifest, "steps") && stop.kept === steps
      : stopped && stop.kept === (top?.step ?? steps);
  return whole && stop.step === steps
    ? undefined
    : edited(`summary.json says that it stopped at step ${stop.step}: ${stop.reason}`);
};

/** The steps at which its settings ask for an evaluation. */
function measuredAt({ manifest, summary }: Training): number[] {
  const [every, planned] = [setting(manifest, "evaluate.every"), setting(manifest, "steps")];
  const scored = validationScorer(manifest) !== undefined || isPlayed(manifest);
  if (!inputOf(manifest, "dev") || !scored || typeof every !== "number" || every === 0) return [];
  const steps = Array.from({ length: summary.steps + 1 }, (_, step) => step);
  const last = isBudget(summary.stop.reason) ? summary.steps : planned;
  return steps.filter((step) => step % every === 0 || step === last);
}

const evaluations: Check = (training) => {
  const { manifest, records } = training;
  const expected = measuredAt(training).join(", ");
  const found = records.evaluations.map(({ step }) => step).join(", ");
  if (found !== expected)
    return edited(`evaluations.jsonl has the steps ${found || "none"}, not ${expected || "none"}`);
  const rows = inputOf(manifest, "dev")?.rows ?? 0;
  const wrong = records.evaluations.find((one) => !agrees(one, rows, manifest));
  return wrong && edited(`the figures of evaluations.jsonl at step ${wrong.step} do not agree`);
};

/** Whether what rewards the policy also validates it. */
function rewardValidates(manifest: TrainManifest): boolean {
  if (manifest.judge || manifest.validation_environment) return false;
  const scorers = manifest.scorers.filter(({ role }) => role !== "cost").length;
  return scorers + (isPlayed(manifest) ? 1 : 0) === 1;
}

/** In an environment a task is solved by its outcome code, so that only whole tasks can be asked for. */
function passRateAgrees({ pass_rate: rate, rewards, examples }: EvaluationRecord, played: boolean) {
  const passed = played ? Math.round(rate * examples) : rewards.filter(passes).length;
  return passed <= examples && near(rate, passed / examples);
}

function agrees(one: EvaluationRecord, rows: number, manifest: TrainManifest): boolean {
  const { examples, rewards, outcomes, kl_exact: kl } = one;
  const scored = rewards.filter((reward) => reward !== null);
  const mean = scored.length === 0 ? 0 : scored.reduce((sum, x) => sum + x, 0) / scored.length;
  const counted = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const shares = [one.truncated, one.repeated];
  return (
    [rewards.length, counted, rows].every((count) => count === examples) &&
    passRateAgrees(one, isPlayed(manifest)) &&
    near(one.reward_mean, mean) &&
    (!rewardValidates(manifest) || near(one.proxy_mean, mean)) &&
    shares.every((share) => share >= 0 && share <= 1) &&
    // At step 0 the policy is its own reference.
    (one.step > 0 || kl === null || Math.abs(kl) < 1e-3)
  );
}

const samples: Check = ({ records }) => {
  let seen = 0;
  for (const { step, rewards } of records.evaluations) {
    const said = records.samples.filter((sample) => sample.step === step);
    seen += said.length;
    if (said.length === 0 || said.some(({ reward }, i) => reward !== rewards[i]))
      return edited(`samples.jsonl and evaluations.jsonl differ at step ${step}`);
  }
  return seen === records.samples.length
    ? undefined
    : edited("samples.jsonl has steps that were not evaluated");
};

const CHECKS = [hashes, lines, totals, ending, evaluations, samples];
