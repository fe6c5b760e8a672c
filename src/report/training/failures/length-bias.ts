/** The reward pays for length, and the completions follow. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";
import { plain } from "../numbers.ts";
import { type Ends, endsOf, mean } from "../series.ts";
import { type FailureMode, finding, lastSamples } from "./finding.ts";

/** As a factor, up or down. */
const DRIFT = 1.25;
/** Where nothing is known of the reward, only a large drift is worth a word. */
const LARGE_DRIFT = 2;
const CORRELATION = 0.3;

export const lengthBias: FailureMode = (run) =>
  finding(run, "Length bias", /length/i, drifted(run));

function drifted(run: TrainingRunRecords): Partial<ReturnType<FailureMode>> {
  const drift = lengthEnds(run);
  if (drift === undefined || drift.start <= 0 || drift.end <= 0)
    return { numbers: ["No lengths were written at two steps or more."] };
  const factor = drift.end / drift.start;
  const correlation = correlationOfChanges(run);
  const numbers = [
    `Mean length ${plain(drift.start)} tokens at the start, ${plain(drift.end)} at the end (×${plain(factor)}).`,
    correlation === undefined
      ? "Reward and length were not written together, so whether one pays for the other is open."
      : `From step to step, changes of length and of reward correlate by ${plain(correlation.r)} (${correlation.n} changes).`,
  ];
  const isSeen = correlation ? follows(factor, correlation) : isBeyond(factor, LARGE_DRIFT);
  return {
    status: isSeen ? "seen" : "not seen",
    numbers,
    evidence: moved(run, Math.sign(factor - 1)),
  };
}

/** The samples that moved along with the mean, the farthest first. */
function moved(run: TrainingRunRecords, direction: number): SampleRecord[] {
  const before = new Map<string, number>();
  for (const { id, completion } of run.samples)
    if (!before.has(id)) before.set(id, completion.length);
  const change = ({ id, completion }: SampleRecord) =>
    direction * (completion.length - (before.get(id) ?? completion.length));
  return lastSamples(run)
    .filter((sample) => change(sample) > 0)
    .sort((a, b) => change(b) - change(a));
}

/** Longer and longer is paid, or shorter and shorter is. */
function follows(factor: number, { r, n }: Correlation): boolean {
  const isClear = Math.abs(r) >= Math.max(CORRELATION, 2 / Math.sqrt(n));
  return isClear && isBeyond(factor, DRIFT) && Math.sign(r) === Math.sign(factor - 1);
}

const isBeyond = (factor: number, limit: number) => factor >= limit || factor <= 1 / limit;

function lengthEnds(run: TrainingRunRecords): Ends | undefined {
  const [start, end] = [run.evaluations[0], run.evaluations.at(-1)];
  if (start === undefined || end === undefined || start === end) return endsOf(run, "length/mean");
  return { start: start.length_mean, end: end.length_mean };
}

interface Correlation {
  readonly r: number;
  /** Pairs of changes. */
  readonly n: number;
}

const FEWEST = 8;

/**
 * Pearson's, of the changes between neighbouring steps. Two curves that both rise correlate for no
 * other reason than that; their changes do only if the longer batches are the better paid ones.
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
  if (changes.length < FEWEST) return undefined;
  const [x, y] = (["length", "reward"] as const).map((key) => {
    const centre = mean(changes.map((change) => change[key]));
    return changes.map((change) => change[key] - centre);
  }) as [number[], number[]];
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
  const size = Math.sqrt(dot(x, x) * dot(y, y));
  return { r: size === 0 ? 0 : dot(x, y) / size, n: changes.length };
}
