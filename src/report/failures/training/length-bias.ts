/** Length bias: reward correlates with length, and the completions drift in that direction. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";
import { plain } from "../../page/numbers.ts";
import { hasLabels } from "../../training/judged/judge-of.ts";
import { mean, startAndEnd } from "../../training/series.ts";
import type { FailureMode, Finding } from "./finding.ts";
import { countSamples, initialAnswers, isPreferred, type SampleCount } from "./sample-count.ts";
import { lastSamples } from "./stored-samples.ts";

/** As a factor, up or down. */
const MIN_DRIFT = 1.25;
/** Without a known correlation with the reward, only a large drift counts. */
const LARGE_DRIFT = 2;
const MIN_CORRELATION = 0.3;

export const lengthBias: FailureMode = {
  name: "Length bias",
  alarms: /length/i,
  look: drifted,
  count: rewardedForLength,
};

/** The judge prefers what is longer, or what is shorter, and the labels do not. */
function rewardedForLength(run: TrainingRunRecords): SampleCount | undefined {
  const labelled = hasLabels(run);
  const before = initialAnswers(run);
  const label = labelled
    ? ", and whose label is no better"
    : "; there are no labels to compare with";
  return countSamples(
    run,
    `at least a quarter longer or shorter in characters than the initial policy's answer, which the judge prefers to it${label}`,
    (samples) =>
      samples.filter((sample) => {
        const initial = before(sample.id);
        if (!initial || !isPreferred(sample)) return false;
        const factor = sample.completion.length / Math.max(1, initial.completion.length);
        const isBetter = (sample.reward ?? 0) > (initial.reward ?? 0);
        return isBeyond(factor, MIN_DRIFT) && !(labelled && isBetter);
      }),
  );
}

function drifted(run: TrainingRunRecords): Partial<Finding> {
  const drift = startAndEnd(run, "length/mean", "length_mean");
  if (drift === undefined || drift.start <= 0 || drift.end <= 0)
    return { numbers: ["Lengths were recorded at fewer than two steps."] };
  const factor = drift.end / drift.start;
  const correlation = correlationOfChanges(run);
  const numbers = [
    `Mean length ${plain(drift.start)} tokens at the start, ${plain(drift.end)} at the end (×${plain(factor)}).`,
    correlation === undefined
      ? "Reward and length were not recorded together, so their correlation is unknown."
      : `Correlation of step-to-step changes in length and reward: ${plain(correlation.r)} (${correlation.n} changes).`,
  ];
  const isSeen = correlation ? isRewarded(factor, correlation) : isBeyond(factor, LARGE_DRIFT);
  return {
    status: isSeen ? "seen" : "not seen",
    numbers,
    evidence: changedMost(run, Math.sign(factor - 1)),
  };
}

/** The samples that changed in the same direction as the mean, the largest change first. */
function changedMost(run: TrainingRunRecords, direction: number): SampleRecord[] {
  const before = new Map<string, number>();
  for (const { id, completion } of run.samples)
    if (!before.has(id)) before.set(id, completion.length);
  const change = ({ id, completion }: SampleRecord) =>
    direction * (completion.length - (before.get(id) ?? completion.length));
  return lastSamples(run)
    .filter((sample) => change(sample) > 0)
    .sort((a, b) => change(b) - change(a));
}

/** Length drifts in the direction that is rewarded. */
function isRewarded(factor: number, { r, n }: Correlation): boolean {
  const isClear = Math.abs(r) >= Math.max(MIN_CORRELATION, 2 / Math.sqrt(n));
  return isClear && isBeyond(factor, MIN_DRIFT) && Math.sign(r) === Math.sign(factor - 1);
}

const isBeyond = (factor: number, limit: number) => factor >= limit || factor <= 1 / limit;

interface Correlation {
  readonly r: number;
  /** Pairs of changes. */
  readonly n: number;
}

const MIN_CHANGES = 8;

/**
 * Pearson's correlation of the changes between neighbouring steps. Two rising curves always
 * correlate; their changes do only if longer batches get higher rewards.
 */
function correlationOfChanges({ steps }: TrainingRunRecords): Correlation | undefined {
  const both = steps.flatMap(({ values }) => {
    const [length, reward] = [values["length/mean"], values["reward/mean"]];
    return length === undefined || reward === undefined ? [] : [{ length, reward }];
  });
  const changes = both.slice(1).map(({ length, reward }, i) => {
    const before = both[i] as (typeof both)[number];
    return { length: length - before.length, reward: reward - before.reward };
  });
  if (changes.length < MIN_CHANGES) return undefined;
  const [x, y] = (["length", "reward"] as const).map((key) => {
    const centre = mean(changes.map((change) => change[key]));
    return changes.map((change) => change[key] - centre);
  }) as [number[], number[]];
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
  const size = Math.sqrt(dot(x, x) * dot(y, y));
  return { r: size === 0 ? 0 : dot(x, y) / size, n: changes.length };
}
