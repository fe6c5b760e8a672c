/** Different prompts get the same answer, and the policy has stopped trying others. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";
import { percent, plain } from "../numbers.ts";
import { type Ends, endsOf } from "../series.ts";
import { type FailureMode, finding, lastSamples } from "./finding.ts";

/** In points. A policy that becomes certain of right answers loses entropy too, but does not repeat. */
const REPEATS = 0.2;

export const modeCollapse: FailureMode = (run) =>
  finding(run, "Mode collapse", /repeat/i, repeating(run));

function repeating(run: TrainingRunRecords): Partial<ReturnType<FailureMode>> {
  const [repeated, entropy] = [ends(run, "repeated"), ends(run, "entropy")];
  const numbers = [
    repeated
      ? `The commonest completion is ${percent(repeated.start)} of all at the start, ${percent(repeated.end)} at the end.`
      : "The share of the commonest completion was not written at two steps or more.",
    ...(entropy
      ? [`Entropy ${plain(entropy.start)} nats per token, then ${plain(entropy.end)}.`]
      : []),
  ];
  if (repeated === undefined) return { numbers };
  const isSeen = repeated.end - repeated.start >= REPEATS;
  return { status: isSeen ? "seen" : "not seen", numbers, evidence: alike(run) };
}

function ends(run: TrainingRunRecords, measure: "repeated" | "entropy"): Ends | undefined {
  const [start, end] = [run.evaluations[0], run.evaluations.at(-1)];
  if (start === undefined || end === undefined || start === end) return endsOf(run, measure);
  return { start: start[measure], end: end[measure] };
}

/** The samples of the end that say what most of them say. */
function alike(run: TrainingRunRecords): SampleRecord[] {
  const last = lastSamples(run);
  const count = (text: string) => last.filter(({ completion }) => completion === text).length;
  const most = Math.max(...last.map(({ completion }) => count(completion)));
  return most < 2 ? [] : last.filter(({ completion }) => count(completion) === most);
}
