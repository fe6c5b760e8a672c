/** The metrics of `text_similarity`: a number from 0 to 1 for two texts. */

import { type BleuVariant, bleu } from "./bleu.ts";
import { ratio } from "./fuzzy.ts";
import { gleu } from "./gleu.ts";
import { meteor } from "./meteor.ts";
import { rougeL, rougeN } from "./rouge.ts";
import { wRatio } from "./wratio.ts";

/** Functions that the documentation does not name. */
export interface SimilaritySettings {
  readonly fuzzy_match: FuzzyVariant;
  readonly bleu: BleuVariant;
}

export const FUZZY_VARIANTS = ["ratio", "WRatio"] as const;
export type FuzzyVariant = (typeof FUZZY_VARIANTS)[number];

type Measure = (input: string, reference: string, settings: SimilaritySettings) => number;

const METRICS = {
  fuzzy_match: (input, reference, settings) =>
    (settings.fuzzy_match === "WRatio" ? wRatio : ratio)(input, reference),
  bleu: (input, reference, settings) => bleu(settings.bleu, input, reference),
  gleu,
  meteor,
  rouge_1: (input, reference) => rougeN(1, input, reference),
  rouge_2: (input, reference) => rougeN(2, input, reference),
  rouge_3: (input, reference) => rougeN(3, input, reference),
  rouge_4: (input, reference) => rougeN(4, input, reference),
  rouge_5: (input, reference) => rougeN(5, input, reference),
  rouge_l: rougeL,
} as const satisfies Readonly<Record<string, Measure>>;

export type Metric = keyof typeof METRICS;
export const METRIC_NAMES = Object.keys(METRICS) as [Metric, ...Metric[]];

/** Throws `TooLarge` where the texts are beyond the limit of the metric. */
export function similarity(
  metric: Metric,
  input: string,
  reference: string,
  settings: SimilaritySettings,
): number {
  return METRICS[metric](input, reference, settings);
}
