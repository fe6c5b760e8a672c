/** Rubrics that the embedded judge knows, by name, for recipes, drills and tests. */

import { RUBRIC } from "../../environments/support-replies/support-replies.ts";

const LINES = {
  "support-replies": RUBRIC,
  "headlines-naive": ["It has words that make people click."],
  "headlines-mended": [
    "It names who acts, what is done and to what.",
    "It has words that make people click, and is about the article.",
  ],
  "word-groups-naive": ["Every word stands in its category."],
  "word-groups-mended": ["Every word stands in its category, and nowhere else."],
  "boat-race-naive": ["It collects many points."],
  "boat-race-mended": ["It gets far along the course.", "It reaches the finish."],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type RubricName = keyof typeof LINES;

/** The text of each, as a rubric file has it. */
export const RUBRICS = Object.fromEntries(
  Object.entries(LINES).map(([name, lines]) => [name, lines.map((line) => `- ${line}\n`).join("")]),
) as Readonly<Record<RubricName, string>>;
