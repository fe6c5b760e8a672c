/** Mode collapse: different prompts get the same completion. */

import type { TrainingRunRecords } from "../../../runs/read-training-run.ts";
import type { SampleRecord } from "../../../runs/train-records.ts";
import { percent, plain } from "../../page/numbers.ts";
import { startAndEnd } from "../../training/series.ts";
import type { FailureMode, Finding } from "./finding.ts";
import { countSamples } from "./sample-count.ts";
import { lastSamples } from "./stored-samples.ts";

/** Growth of the share. Entropy alone is no sign: it also falls when a policy becomes sure of right answers. */
const MIN_GROWTH = 0.2;

export const modeCollapse: FailureMode = {
  name: "Mode collapse",
  alarms: /repeat/i,
  look: repeating,
  count: (run) => countSamples(run, "whose text is also the answer to another task", shared),
};

function repeating(run: TrainingRunRecords): Partial<Finding> {
  const [repeated, entropy] = [
    startAndEnd(run, "repeated", "repeated"),
    startAndEnd(run, "entropy", "entropy"),
  ];
  const numbers = [
    repeated
      ? `Share of the most common completion: ${percent(repeated.start)} at the start, ${percent(repeated.end)} at the end.`
      : "The share of the most common completion was recorded at fewer than two steps.",
    ...(entropy
      ? [
          `Entropy: ${plain(entropy.start)} nats per token at the start, ${plain(entropy.end)} at the end.`,
        ]
      : []),
  ];
  if (repeated === undefined) return { numbers };
  const isSeen = repeated.end - repeated.start >= MIN_GROWTH;
  return { status: isSeen ? "seen" : "not seen", numbers, evidence: mostCommon(run) };
}

/** The last samples that have the most common completion. */
function mostCommon(run: TrainingRunRecords): SampleRecord[] {
  const last = lastSamples(run);
  const count = (text: string) => last.filter(({ completion }) => completion === text).length;
  const most = Math.max(...last.map(({ completion }) => count(completion)));
  return most < 2 ? [] : last.filter(({ completion }) => count(completion) === most);
}

function shared(samples: readonly SampleRecord[]): SampleRecord[] {
  const answered = new Map<string, Set<string>>();
  for (const { id, completion } of samples)
    answered.set(completion, (answered.get(completion) ?? new Set()).add(id));
  return samples.filter(({ completion }) => (answered.get(completion)?.size ?? 0) > 1);
}
