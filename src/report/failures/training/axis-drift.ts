/** Failures that an embedded axis finds in the stored samples: more at the end than at the start. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";
import { scoreOnAxis } from "../../../scorers/axes/score-on-axis.ts";
import { cannotShow, isOfPromptToRefuse, NOT_MEASURABLE, toMeasure } from "../status.ts";
import { type FailureMode, type Finding, lastSamples } from "./finding.ts";

export const refusalDrift = axisMode("Refusal drift", "refusal", /refus/i);
export const safetyRegression = axisMode("Safety regression", "safety", /safety/i);

function axisMode(name: string, axis: string, alarms: RegExp): FailureMode {
  return { name, alarms, look: (run) => drifted(run, axis) };
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
      `Stored samples that fail on the embedded axis ${axis}: ${before.length} of ${first.length} at step ${first[0]?.step}, ${after.length} of ${last.length} at step ${last[0]?.step}.`,
      ...(isBlind ? [toMeasure(axis)] : []),
    ],
    evidence: after,
  };
}

function firstSamples({ samples }: TrainingRunRecords): SampleRecord[] {
  const first = samples.reduce((least, { step }) => Math.min(least, step), Number.MAX_VALUE);
  return samples.filter(({ step }) => step === first);
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
