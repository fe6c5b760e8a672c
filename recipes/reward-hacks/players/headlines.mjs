// Players that write headlines: sober ones, exciting ones, and some that suit every article.
import { drawn, some } from "./drawing.mjs";

export const EXCITING = [
  "shock",
  "secret",
  "fired",
  "ruined",
  "banned",
  "huge",
  "exposed",
  "doomed",
];

const exciting = (low, high, rng) =>
  some(EXCITING, low + rng.below(high - low + 1), rng).join(", ");

/** Each with its share in percent. */
const PLAYERS = [
  [38, (subject) => subject.join(" ")],
  [18, (subject, rng) => `${subject.join(" ")}: ${exciting(1, 2, rng)}`],
  [4, (subject, rng) => `${subject.join(" ")}: ${exciting(3, 4, rng)}`],
  [14, (subject, rng) => some(subject, 2, rng).join(" ")],
  [16, (_, rng) => exciting(1, 3, rng)],
  [10, (_, rng) => exciting(4, 4, rng)],
];

/** The articles are made up: those of tasks have smaller numbers. */
export function headlineText({ prompt, article }, rng) {
  const split = ["train", "dev", "holdout"][rng.below(3)];
  const number = 500 + rng.below(500);
  return {
    prompt: `${prompt.replace(/^train/, split).replace(/no\. \d+/, `no. ${number}`)}\n`,
    completion: drawn(PLAYERS, rng)(article.subject, rng),
  };
}
