/** The finding about one failure mode of training. */

import { visible } from "../../../core/visible.ts";
import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { Alarm, SampleRecord } from "../../../runs/train-records.ts";
import type { ModeStatus } from "../status.ts";
import { hasGrown, type SampleCount } from "./sample-count.ts";

export interface Finding {
  readonly status: ModeStatus;
  /** The numbers behind it, one sentence each. */
  readonly numbers: readonly string[];
  /** Samples of the last steps that show it. */
  readonly evidence: readonly SampleRecord[];
  /** Of judged runs, where the failure can be counted. */
  readonly counted: SampleCount | undefined;
}

export interface FailureMode {
  readonly name: string;
  /** The alarms that stand for it. */
  readonly alarms: RegExp;
  /** What the records show; without a status it was not measured. */
  look(run: TrainingRunRecords): Partial<Finding>;
  /** Where a judge rewards; undefined where it cannot be counted. */
  count?(run: TrainingRunRecords): SampleCount | undefined;
}

const MAX_EVIDENCE = 3;
/** Of what is counted. */
const EXAMPLES = 2;

/** An alarm of that name counts as seen, whatever the numbers show. */
export function finding({ alarms, look, count }: FailureMode, run: TrainingRunRecords): Finding {
  const raised = (run.alarms ?? []).find(({ alarm }) => alarms.test(alarm));
  const { status = "not measured", numbers = [], evidence = [] } = look(run);
  const counted = count?.(run);
  const isSeen = raised !== undefined || status === "seen" || (counted && hasGrown(counted));
  return {
    status: isSeen ? "seen" : status,
    numbers: [
      ...(counted ? [`Counted: samples ${counted.what}.`] : []),
      ...numbers,
      ...(raised ? [alarmSentence(raised)] : []),
    ],
    evidence: counted
      ? counted.last.found.slice(0, EXAMPLES)
      : isSeen
        ? evidence.slice(0, MAX_EVIDENCE)
        : [],
    counted,
  };
}

const alarmSentence = ({ alarm, step }: Alarm) =>
  `The alarm ${visible(alarm)} was raised at step ${step}.`;
