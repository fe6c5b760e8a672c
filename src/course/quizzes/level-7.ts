/** Level 7, extra: judges. */

import { choice, count, oneOf, questions, REASON, three } from "./answers.ts";

/** A judge that is right with this probability shows this share of a true difference of win rates. */
const shownBy = (accuracy: number) => 2 * accuracy - 1;

const VERDICTS = ["acquitted", "convicted", "undecided"];

export const QUESTIONS_7 = questions("28-judges", [
  {
    id: "shrinkage",
    ask: "A judge orders 90 % of pairs as the labels do, whichever side is better. A true difference of win rates is 0.2. How large does it look through this judge?",
    form: three,
    why: "It counts 0.9 of the won tasks as won and 0.1 as lost: (2 × 0.9 − 1) × 0.2.",
    solve: () => shownBy(0.9) * 0.2,
  },
  {
    id: "tasks",
    ask: "And at an agreement of 75 %: how many times as many tasks does the gate need as with a judge that is always right?",
    form: count,
    why: "The difference looks half as large, and the number of tasks grows with the square.",
    solve: () => Math.round(1 / shownBy(0.75) ** 2),
  },
  {
    id: "few-pairs",
    ask: "An audit of ten pairs shows no gain by length, with an interval from −0.3 to +0.3. What is its verdict on length bias, at a margin of 0.05?",
    form: oneOf(VERDICTS),
    why: "Acquitted only where the interval excludes an effect of the margin: nothing is shown, and nothing ruled out.",
    solve: () => "undecided",
  },
  {
    id: "other-rubric",
    ask: "Two judged runs have the same judge model and different rubrics. With which reason does the gate refuse to compare them?",
    form: REASON,
    why: "The rubric is part of the instrument, so it is another judge.",
    solve: () => "judge_differs",
  },
  {
    id: "apart",
    ask: "Two rollouts were judged by the same judge, each on its own. With which reason does the gate refuse?",
    form: REASON,
    why: "Scores are relative within a group: those of different groups have no common scale.",
    solve: () => "judged_apart",
  },
  {
    id: "no-verdict",
    ask: "The judge refuses to answer about a group. What do its attempts get?",
    form: choice({
      a: "the score 0, since nothing speaks for them",
      b: "the mean score of the other groups",
      c: "no score: the group is dropped and counted",
      d: "the score of the group before",
    }),
    why: "A 0 would teach that these attempts were bad. Nothing is known about them.",
    solve: () => "c",
  },
  {
    id: "parting",
    ask: "In a hybrid run the judge's win rate rises and that of the labels falls. What do you do?",
    form: choice({
      a: "continue: the judge sees more than the labels",
      b: "stop, keep the best checkpoint by labels, audit the judge",
      c: "validate by the judge instead",
      d: "raise the learning rate",
    }),
    why: "That is reward hacking: the policy exploits the judge or its rubric.",
    solve: () => "b",
  },
]);
