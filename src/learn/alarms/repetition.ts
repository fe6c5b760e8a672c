/** The alarm of repetition within completions. */

import { type Check, change, evaluationChange, metric, percent } from "./history.ts";

/** Completions that repeat themselves more than they did at the start. */
export const repetitiveText: Check = (history, limits) => {
  const { steps, facts } = history;
  // Random weights and their first texts repeat a few tokens.
  if (facts.scratch) return undefined;
  const moved =
    metric(steps.at(-1), "repetition") === undefined
      ? evaluationChange(history, "repetition")
      : change(steps, "repetition", limits.window);
  if (!moved || moved.now < moved.start + limits.repetition) return undefined;
  const { start, now } = moved;
  return {
    alarm: "repetitive_text",
    stops: false,
    message: `${percent(now)} of the 4-grams of a completion repeat an earlier one of the same completion (${percent(start)} at the start). The policy writes in loops: repetition may be rewarded, or completions no longer end. Read the samples; make the scorer reject repetition, or ${facts.advice?.closer ?? "raise the KL coefficient"}.`,
    evidence: { start, now },
  };
};
