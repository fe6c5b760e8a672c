/** The finding about one failure mode of training. */

import { visible } from "../../../core/visible.ts";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { Alarm, SampleRecord } from "../../../runs/train-records.ts";
import type { ModeStatus } from "../status.ts";

export interface Finding {
  readonly status: ModeStatus;
  /** The numbers behind it, one sentence each. */
  readonly numbers: readonly string[];
  /** Samples of the last steps that show it. */
  readonly evidence: readonly SampleRecord[];
}

export interface FailureMode {
  readonly name: string;
  /** The alarms that stand for it. */
  readonly alarms: RegExp;
  /** What the records show; without a status it was not measured. */
  look(run: TrainingRunRecords): Partial<Finding>;
}

const MAX_EVIDENCE = 3;

/** An alarm of that name counts as seen, whatever the numbers show. */
export function finding({ alarms, look }: FailureMode, run: TrainingRunRecords): Finding {
  const raised = (run.alarms ?? []).find(({ alarm }) => alarms.test(alarm));
  const { status = "not measured", numbers = [], evidence = [] } = look(run);
  return {
    status: raised ? "seen" : status,
    numbers: raised ? [...numbers, alarmSentence(raised)] : numbers,
    evidence: raised || status === "seen" ? evidence.slice(0, MAX_EVIDENCE) : [],
  };
}

const alarmSentence = ({ alarm, step }: Alarm) =>
  `The alarm ${visible(alarm)} was raised at step ${step}.`;

/** The samples of the last step up to this one that has any. */
export function samplesAt({ samples }: TrainingRunRecords, step: number): SampleRecord[] {
  const last = samples.reduce(
    (most, one) => (one.step <= step ? Math.max(most, one.step) : most),
    -1,
  );
  return samples.filter((one) => one.step === last);
}

export const lastSamples = (run: TrainingRunRecords): SampleRecord[] =>
  samplesAt(run, Number.POSITIVE_INFINITY);
