/** What is said of one way in which training fails. */

import { visible } from "../../../core/visible.ts";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { Alarm, SampleRecord } from "../../../runs/train-records.ts";

export interface Finding {
  readonly mode: string;
  readonly status: "seen" | "not seen" | "not measured";
  /** The numbers behind it, a sentence each. */
  readonly numbers: readonly string[];
  /** Samples of the end that show it. */
  readonly evidence: readonly SampleRecord[];
}

export type FailureMode = (run: TrainingRunRecords) => Finding;

const MOST_EVIDENCE = 3;

/** An alarm whose name says so is a sighting, whatever the numbers here make of it. */
export function finding(
  run: TrainingRunRecords,
  mode: string,
  alarms: RegExp,
  found: Partial<Omit<Finding, "mode">>,
): Finding {
  const raised = (run.alarms ?? []).find(({ alarm }) => alarms.test(alarm));
  const { status = "not measured", numbers = [], evidence = [] } = found;
  return {
    mode,
    status: raised ? "seen" : status,
    numbers: raised ? [...numbers, alarmWords(raised)] : numbers,
    evidence: raised || status === "seen" ? evidence.slice(0, MOST_EVIDENCE) : [],
  };
}

const alarmWords = ({ alarm, step }: Alarm) =>
  `The alarm ${visible(alarm)} was raised at step ${step}.`;

/** The samples of the last step that has any, up to this one. */
export function samplesAt({ samples }: TrainingRunRecords, step: number): SampleRecord[] {
  const last = samples.reduce(
    (most, one) => (one.step <= step ? Math.max(most, one.step) : most),
    -1,
  );
  return samples.filter((one) => one.step === last);
}

export const lastSamples = (run: TrainingRunRecords): SampleRecord[] =>
  samplesAt(run, Number.POSITIVE_INFINITY);
