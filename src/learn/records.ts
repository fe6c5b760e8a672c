/** What a training run writes line by line; the schemas are in runs. */

export type {
  Alarm,
  EvaluationRecord,
  SampleRecord,
  StepRecord,
  TimingRecord,
} from "../runs/train-records.ts";
