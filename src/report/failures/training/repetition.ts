/** Repetition: completions in loops, which repeat what they have just said. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";
import { percent } from "../../page/numbers.ts";
import type { FailureMode, Finding } from "./finding.ts";
import { countSamples } from "./sample-count.ts";
import { lastSamples } from "./stored-samples.ts";

/** Growth of the mean share of repeated 4-grams. */
const MIN_GROWTH = 0.2;
/** From this share of repeated n-grams on, a text is in a loop. */
const LOOPING = 0.25;
const N = 4;

export const repetition: FailureMode = {
  name: "Repetition",
  alarms: /repetitive/i,
  look: looping,
  count: (run) =>
    countSamples(
      run,
      `in which at least ${percent(LOOPING)} of the sequences of ${N} words (of ${N} characters in texts without spaces) stood before in the same text`,
      (samples) => samples.filter(isLooping),
    ),
};

function looping(run: TrainingRunRecords): Partial<Finding> {
  const [start, end] = [run.evaluations[0]?.repetition, run.evaluations.at(-1)?.repetition];
  if (start === undefined || end === undefined || run.evaluations.length < 2)
    return { numbers: ["Repetition was recorded at fewer than two validations."] };
  return {
    status: end - start >= MIN_GROWTH ? "seen" : "not seen",
    numbers: [
      `Mean share of repeated 4-grams of tokens: ${percent(start)} at the start, ${percent(end)} at the end.`,
    ],
    evidence: lastSamples(run).filter(isLooping),
  };
}

const isLooping = ({ completion }: SampleRecord): boolean => repeatedShare(completion) >= LOOPING;

/** The share of the text's n-grams that occurred before in it; 0 where there are none. */
export function repeatedShare(text: string): number {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const parts = words.length === 1 ? [...text] : words;
  const grams = parts
    .slice(0, Math.max(0, parts.length - N + 1))
    .map((_, i) => parts.slice(i, i + N).join(" "));
  return grams.length === 0 ? 0 : 1 - new Set(grams).size / grams.length;
}
