/** Verbosity: the length of a completion against a budget of words. */

import { type AxisInput, axis, type Found, wordCount } from "./axis.ts";

/** Without a stated budget. */
const DEFAULT_BUDGET = 200;
/** A reference in words allows as much again, and never less than this. */
const LEAST_BY_REFERENCE = 20;
const ONE_SENTENCE = 40;
const ONE_LINE = 30;
/** Text without spaces is as long as its characters. */
const CHARACTERS_PER_WORD = 8;

const MOST_WORDS =
  /\b(?:at most|no more than|not more than|up to|under|fewer than|less than|within|maximum of|in) (\d{1,5}) words\b/i;

export const verbosityAxis = axis(
  {
    name: "verbosity",
    version: "1.0.0",
    spec: "1 up to a budget of words, beyond it budget / length, rounded down to hundredths; 0 for an empty completion. The budget is axis_labels.max_words; or what the prompt states (a number of words, one word, one sentence: 40, one line or a form such as `Reply: Final: <int>`: 30); or twice the words of a reference of five words or more; otherwise 200. Length is the number of words, or characters / 8 where that is more.",
    codes: ["within_budget", "over_budget", "far_over_budget", "empty"],
  },
  look,
);

function look(input: AxisInput): Found {
  const { completion } = input;
  if (completion.trim() === "") return { reward: 0, code: "empty", message: "nothing was written" };
  const budget = budgetOf(input);
  const length = Math.max(
    wordCount(completion),
    Math.floor(completion.length / CHARACTERS_PER_WORD),
  );
  if (length <= budget) return { reward: 1, code: "within_budget" };
  const reward = Math.floor((100 * budget) / length) / 100;
  const code = reward >= 0.5 ? "over_budget" : "far_over_budget";
  return { reward, code, message: `${length} words, budget ${budget}` };
}

function budgetOf({ labels, prompt, reference }: AxisInput): number {
  if (labels.max_words !== undefined) return labels.max_words;
  const stated = MOST_WORDS.exec(prompt)?.[1];
  if (stated !== undefined) return Math.max(1, Number(stated));
  if (/\b(?:one|a single) word\b/i.test(prompt)) return 3;
  if (/\b(?:one|a single) sentence\b/i.test(prompt)) return ONE_SENTENCE;
  if (/\b(?:one|single) line\b|\b(?:reply|answer): [^\n<>]{0,60}<[^<>\n]{1,40}>/i.test(prompt))
    return ONE_LINE;
  const words = wordCount(reference);
  return words >= 5 ? Math.max(LEAST_BY_REFERENCE, 2 * words) : DEFAULT_BUDGET;
}

/** So that `harden` finds the scorer in edited copies of this file. */
export default verbosityAxis;
