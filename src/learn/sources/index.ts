/** Reads what an algorithm needs. */

import type { Need } from "../algorithm.ts";
import type { DataContext, TrainingData } from "../source.ts";
import { readLabels, readPairs, readTexts } from "./files.ts";
import { readRejectionSampling } from "./rejection-sampling.ts";
import { readRollouts } from "./rollouts.ts";

const READERS: Record<Need, (context: DataContext) => Promise<TrainingData>> = {
  texts: readTexts,
  "passing samples": readRejectionSampling,
  pairs: readPairs,
  labels: readLabels,
  rollouts: readRollouts,
};

export function readTrainingData(context: DataContext): Promise<TrainingData> {
  return READERS[context.algorithm.needs](context);
}

/** Whether rows are sampled from prompts with a scorer, rather than read. */
export function isSampled(need: Need): boolean {
  return need === "rollouts" || need === "passing samples";
}
