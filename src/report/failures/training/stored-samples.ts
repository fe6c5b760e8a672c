/** The samples of a validation that a run has stored. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";

/** Of the last step up to this one that has any. */
export function samplesAt({ samples }: TrainingRunRecords, step: number): SampleRecord[] {
  const last = samples.reduce(
    (most, one) => (one.step <= step ? Math.max(most, one.step) : most),
    -1,
  );
  return samples.filter((one) => one.step === last);
}

export const lastSamples = (run: TrainingRunRecords): SampleRecord[] =>
  samplesAt(run, Number.POSITIVE_INFINITY);

export function firstSamples({ samples }: TrainingRunRecords): SampleRecord[] {
  const first = samples.reduce((least, { step }) => Math.min(least, step), Number.MAX_VALUE);
  return samples.filter(({ step }) => step === first);
}
