/** Where a judge rewards: failures counted among the stored samples of the first and the last validation. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";
import { wilsonInterval } from "../../../stats/wilson.ts";
import { grouped } from "../../page/numbers.ts";
import { isJudged } from "../../training/judged/judge-of.ts";
import { firstSamples, lastSamples } from "./stored-samples.ts";

interface CountedSamples {
  readonly step: number;
  /** Those that show the failure. */
  readonly found: readonly SampleRecord[];
  /** All that are stored. */
  readonly of: number;
}

export interface SampleCount {
  /** Which samples are counted, as the end of a sentence. */
  readonly what: string;
  readonly first: CountedSamples;
  readonly last: CountedSamples;
}

/** `pick` is given the samples of one validation. Undefined without two validations of a judged run. */
export function countSamples(
  run: TrainingRunRecords,
  what: string,
  pick: (samples: readonly SampleRecord[]) => readonly SampleRecord[],
): SampleCount | undefined {
  const [first, last] = [firstSamples(run), lastSamples(run)];
  const steps = [first[0]?.step, last[0]?.step] as const;
  if (!isJudged(run) || steps[0] === undefined || steps[0] === steps[1]) return undefined;
  const counted = (samples: readonly SampleRecord[]): CountedSamples => ({
    ...{ step: samples[0]?.step ?? 0, found: pick(samples), of: samples.length },
  });
  return { what, first: counted(first), last: counted(last) };
}

/** The answer to the same task at the first validation, by the initial policy. */
export function initialAnswers(run: TrainingRunRecords): (id: string) => SampleRecord | undefined {
  const answers = new Map(firstSamples(run).map((sample) => [sample.id, sample]));
  return (id) => answers.get(id);
}

/** Whether the judge likes it better than the initial policy's answer in the same group. */
export const isPreferred = ({ judge }: SampleRecord): boolean =>
  judge !== undefined && judge.score > judge.baseline;

/** Both are samples of few tasks: only intervals apart from each other show that it became more common. */
export function hasGrown({ first, last }: SampleCount): boolean {
  const [, high] = wilsonInterval(first.found.length, first.of) ?? [0, 1];
  const [low] = wilsonInterval(last.found.length, last.of) ?? [0, 1];
  return low > high;
}

/** What the counts are of; undefined where nothing can be counted. */
export function baseOfCounts(run: TrainingRunRecords): string | undefined {
  const all = countSamples(run, "", (samples) => samples);
  if (!all) return undefined;
  const { first, last } = all;
  return `Samples are counted among the stored ones: ${grouped(last.of)} of the last validation (step ${grouped(last.step)}) and, for comparison, ${grouped(first.of)} of the first (step ${grouped(first.step)}, the initial policy), on the same tasks. A sample may count in several rows.`;
}
