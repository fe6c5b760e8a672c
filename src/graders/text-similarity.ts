/** `text_similarity`: how alike two texts are, from 0 to 1. */

import { fault } from "./fault.ts";
import { templateField } from "./fields.ts";
import type { TextSimilarity } from "./grader-schema.ts";
import { type OpenKind, SHARE_CODES, shareCode, thresholdDetails } from "./opened.ts";
import { similarity } from "./similarity/index.ts";
import { TooLarge } from "./similarity/limits.ts";

export const openTextSimilarity: OpenKind<TextSimilarity> = (grader, context) => {
  const { evaluation_metric: metric } = grader;
  const input = templateField(grader.input, "input", context);
  const reference = templateField(grader.reference, "reference", context);
  return {
    ...{ exact: true, deterministic: true, range: [0, 1] },
    codes: SHARE_CODES,
    itemFields: [...input.itemFields, ...reference.itemFields],
    spec: `${metric} of "${grader.input}" and "${grader.reference}", from 0 to 1`,
    grade(variables) {
      const given = input.render(variables);
      if (typeof given !== "string") return given;
      const wanted = reference.render(variables);
      if (typeof wanted !== "string") return wanted;
      try {
        const reward = within(similarity(metric, given, wanted, context.settings));
        const details = thresholdDetails(grader.pass_threshold, reward);
        return { reward, code: shareCode(reward), details };
      } catch (error) {
        if (error instanceof TooLarge) return fault("other_error", "grader", error.message);
        throw error;
      }
    },
  };
};

/** Rounded to 12 places: sums of logarithms end up just below or above 1. */
function within(value: number): number {
  return Math.min(1, Math.max(0, Math.round(value * 1e12) / 1e12));
}
