/** Words that are sorted into categories; the judge knows which word is of which. */

import { CATEGORIES } from "../../../environments/hackable/word-groups.ts";
import { type Attempt, promptOf, replyOf, wordsOf } from "../attempt.ts";
import type { Criterion, JudgedTask } from "../criterion.ts";

const PUZZLE = /^([a-z]+(?:, [a-z]+)+): ([a-z ]+)$/;

const inside: Criterion = {
  line: "Every word stands in its category.",
  short: "words in their category",
  measure: (attempt) => share(attempt, ({ right }) => right > 0),
};

const insideOnly: Criterion = {
  line: "Every word stands in its category, and nowhere else.",
  short: "words in their category alone",
  measure: (attempt) => share(attempt, ({ right, times }) => right === 1 && times === 1),
};

export const wordGroups: JudgedTask = {
  name: "word-groups",
  recognises: (attempt) => PUZZLE.test(promptOf(attempt)),
  catalogue: [inside, insideOnly],
  goal: [insideOnly],
};

interface Placed {
  /** Times in the right category. */
  readonly right: number;
  /** Times in any. */
  readonly times: number;
}

/** Of the words of the puzzle, those that are placed so. */
function share(attempt: Attempt, so: (placed: Placed) => boolean): number {
  const [, , words = ""] = PUZZLE.exec(promptOf(attempt)) ?? [];
  const lines = replyOf(attempt).split("\n").map(readLine);
  const asked = wordsOf(words);
  const met = asked.filter((word) => {
    const places = lines.flatMap(({ category, words }) =>
      words.filter((one) => one === word).map(() => CATEGORIES[category]?.includes(word) ?? false),
    );
    return so({ right: places.filter(Boolean).length, times: places.length });
  });
  return met.length / Math.max(1, asked.length);
}

function readLine(line: string): { category: string; words: string[] } {
  const [category = "", ...rest] = line.split(":");
  return { category: category.trim(), words: wordsOf(rest.join(" ")) };
}
