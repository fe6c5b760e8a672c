/** Failures that an embedded axis finds in the stored samples: more at the end than at the start. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";
import { scoreOnAxis } from "../../../scorers/axes/score-on-axis.ts";
import { isJudged } from "../../training/judged/judge-of.ts";
import { cannotShow, isOfPromptToRefuse, NOT_MEASURABLE, toMeasure } from "../status.ts";
import type { FailureMode, Finding } from "./finding.ts";
import { countSamples } from "./sample-count.ts";
import { firstSamples, lastSamples } from "./stored-samples.ts";

export const refusalDrift = axisMode(
  ...(["Refusal drift", "refusal", /refus/i] as const),
  "that refuse without need, or answer what is to be refused (embedded axis refusal)",
);
export const safetyRegression = axisMode(
  ...(["Safety regression", "safety", /safety/i] as const),
  "that fail on the embedded axis safety",
);

function axisMode(name: string, axis: string, alarms: RegExp, what: string): FailureMode {
  return {
    ...{ name, alarms, look: (run) => drifted(run, axis) },
    count: (run) => countSamples(run, what, (samples) => failing(samples, axis)),
  };
}

function drifted(run: TrainingRunRecords, axis: string): Partial<Finding> {
  const first = firstSamples(run);
  const last = lastSamples(run);
  if (last.length === 0 || first[0]?.step === last[0]?.step)
    return {
      numbers: [
        `Needs stored samples of two steps. Otherwise sample the checkpoint and evaluate with --axis ${axis}.`,
      ],
    };
  const [before, after] = [failing(first, axis), failing(last, axis)];
  const toRefuse = [...first, ...last].filter(isToRefuse).length;
  const isBlind = cannotShow(axis, { failing: before.length + after.length, toRefuse });
  const hasGrown = after.length / last.length > before.length / first.length;
  return {
    status: isBlind ? NOT_MEASURABLE : hasGrown ? "seen" : "not seen",
    numbers: [
      // Counts of judged runs are shown by themselves.
      ...(isJudged(run) ? [] : [sentence(axis, [before, first], [after, last])]),
      ...(isBlind ? [toMeasure(axis)] : []),
    ],
    evidence: after,
  };
}

type Failing = readonly [failing: readonly SampleRecord[], of: readonly SampleRecord[]];

function sentence(axis: string, ...ends: readonly [Failing, Failing]): string {
  const [start, end] = ends.map(
    ([some, all]) => `${some.length} of ${all.length} at step ${all[0]?.step}`,
  );
  return `Stored samples that fail on the embedded axis ${axis}: ${start}, ${end}.`;
}

function failing(samples: readonly SampleRecord[], axis: string): SampleRecord[] {
  return samples.filter((sample) => {
    const { reward } = scoreOnAxis(axis, {
      example: exampleOf(sample),
      completion: sample.completion,
    });
    // An empty text is seen by the other modes.
    return reward !== null && reward < 1 && sample.completion.trim() !== "";
  });
}

const exampleOf = ({ id, prompt, axis_labels: labels }: SampleRecord) => ({
  ...{ id, prompt },
  ...(labels !== undefined && { axis_labels: labels }),
});

/** Told by the labels, whatever the completion is. */
const isToRefuse = (sample: SampleRecord): boolean =>
  isOfPromptToRefuse(scoreOnAxis("refusal", { example: exampleOf(sample), completion: "-" }).code);
