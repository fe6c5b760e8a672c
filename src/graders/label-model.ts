/** `label_model`: 1 if the label that a model gives is one of those that pass. */

import { dataError } from "../core/errors.ts";
import { openModel, parseError } from "./ask-model.ts";
import type { LabelModel } from "./grader-schema.ts";
import { type OpenKind, thresholdDetails } from "./opened.ts";

export const openLabelModel: OpenKind<LabelModel> = async (grader, context) => {
  const { labels, passing_labels: passing } = grader;
  const unknown = passing.find((label) => !labels.includes(label));
  if (unknown !== undefined)
    throw dataError(`${context.where}: the passing label "${unknown}" is not one of the labels`);
  const model = await openModel(grader, context, {
    result: { type: "string", enum: labels },
    sentence: `Answer with JSON alone: {"steps": [{"description": "…", "conclusion": "…"}], "result": LABEL}. LABEL is one of ${JSON.stringify(labels)}.`,
  });
  return {
    ...{ exact: false, deterministic: false, range: [0, 1], codes: ["match", "no_match"] },
    ...{ ownLimit: true, itemFields: model.itemFields },
    spec: `1 if ${grader.model} gives one of the labels ${passing.join(", ")}, otherwise 0`,
    async grade(variables) {
      const asked = await model.ask(variables);
      if ("flag" in asked) return asked;
      const { result: label, usage } = asked;
      if (typeof label !== "string" || !labels.includes(label))
        return parseError(`the model's result is not one of the labels: ${JSON.stringify(label)}`);
      const reward = passing.includes(label) ? 1 : 0;
      const details = { label, ...usage, ...thresholdDetails(grader.pass_threshold, reward) };
      return { reward, code: reward === 1 ? "match" : "no_match", details };
    },
    close: () => model.close(),
  };
};
