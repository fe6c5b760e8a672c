/** `score_model`: a number that a model gives, within a range. */

import { dataError } from "../core/errors.ts";
import { openModel, parseError } from "./ask-model.ts";
import type { ScoreModel } from "./grader-schema.ts";
import { type OpenKind, SHARE_CODES, shareCode, thresholdDetails } from "./opened.ts";

export const openScoreModel: OpenKind<ScoreModel> = async (grader, context) => {
  const [low, high] = grader.range ?? [0, 1];
  if (low >= high)
    throw dataError(`${context.where}: range must be the lowest reward and a higher one`);
  const model = await openModel(grader, context, {
    result: { type: "number" },
    sentence: `Answer with JSON alone: {"steps": [{"description": "…", "conclusion": "…"}], "result": NUMBER}. NUMBER is from ${low} to ${high}.`,
  });
  return {
    ...{ exact: false, deterministic: false, range: [low, high], codes: SHARE_CODES },
    ...{ ownLimit: true, itemFields: model.itemFields },
    spec: `the number from ${low} to ${high} that ${grader.model} answers`,
    async grade(variables) {
      const asked = await model.ask(variables);
      if ("flag" in asked) return asked;
      const { result, usage } = asked;
      if (typeof result !== "number" || !Number.isFinite(result))
        return parseError(`the model's result is not a number: ${JSON.stringify(result)}`);
      const reward = Math.min(high, Math.max(low, result));
      const clamped = reward === result ? {} : { result };
      const details = { ...usage, ...clamped, ...thresholdDetails(grader.pass_threshold, reward) };
      return { reward, code: shareCode((reward - low) / (high - low)), details };
    },
    close: () => model.close(),
  };
};
