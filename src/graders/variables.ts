/** What the templates of a grader name, of any kind and without opening it. */

import type { Grader } from "./grader-schema.ts";
import { readTemplate } from "./template.ts";

export interface NamedVariables {
  readonly itemFields: readonly string[];
  readonly sampleFields: readonly string[];
}

/** For a grader whose templates can be read. A python grader has none: what it reads is not known. */
export function variablesOf(grader: Grader): NamedVariables {
  const templates = textsOf(grader).map((text) => readTemplate(text));
  return {
    itemFields: [...new Set(templates.flatMap(({ itemFields }) => itemFields))],
    sampleFields: [...new Set(templates.flatMap(({ sampleFields }) => sampleFields))],
  };
}

function textsOf(grader: Grader): string[] {
  switch (grader.type) {
    case "multi":
      return Object.values(grader.graders).flatMap(textsOf);
    case "string_check":
    case "text_similarity":
      return [grader.input, grader.reference];
    case "score_model":
    case "label_model":
      return grader.input.flatMap(({ content }) =>
        typeof content === "string" ? [content] : [content].flat().map(({ text }) => text),
      );
    default:
      return [];
  }
}
