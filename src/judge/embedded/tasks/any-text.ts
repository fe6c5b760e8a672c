/**
 * A task that the judge does not know, by the four default rules as far as text shows them. Whether
 * the goal was reached it cannot say: only that there is an answer, that it is about what was asked,
 * that it does not repeat itself, and that no tool failed.
 */

import { promptOf, replyOf, wordsOf } from "../attempt.ts";
import type { Criterion, JudgedTask } from "../criterion.ts";
import { supportReplies } from "./support-replies.ts";
import { toolUse } from "./tool-use.ts";

/** Shorter words are in every text. */
const TELLING_LETTERS = 4;
const ENOUGH_WORDS = 3;

const answer: Criterion = {
  line: "There is an answer.",
  short: "answer",
  measure: (attempt) => (wordsOf(replyOf(attempt)).length > 0 ? 1 : 0),
};

const relevant: Criterion = {
  line: "The answer is about what was asked.",
  short: "words of the question",
  measure(attempt) {
    const asked = new Set(wordsOf(promptOf(attempt)).filter(isTelling));
    const said = new Set(wordsOf(replyOf(attempt)));
    const enough = Math.min(ENOUGH_WORDS, asked.size);
    if (enough === 0) return said.size > 0 ? 1 : 0;
    return Math.min(1, [...asked].filter((word) => said.has(word)).length / enough);
  },
};

const varied: Criterion = {
  line: "The answer does not repeat itself.",
  short: "no repetition",
  measure(attempt) {
    const words = wordsOf(replyOf(attempt)).filter(isTelling);
    return words.length === 0 ? 0 : new Set(words).size / words.length;
  },
};

const trouble = toolUse.catalogue.filter(({ line }) => line === "No tool fails.");

export const anyText: JudgedTask = {
  name: "any text",
  recognises: () => true,
  catalogue: [
    ...[answer, relevant, varied, ...trouble],
    ...supportReplies.catalogue.filter(({ anyTask }) => anyTask),
  ],
  goal: [answer, relevant, varied, ...trouble],
};

function isTelling(word: string): boolean {
  return word.length >= TELLING_LETTERS;
}
