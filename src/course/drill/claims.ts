/**
 * What somebody says about a pair of runs. A claim follows from the two pass rates alone and fits
 * several causes, so that it cannot give the cause away.
 */

export type Direction = "rises" | "falls" | "stays";

export const CLAIMS: Readonly<Record<Direction, readonly string[]>> = {
  rises: [
    "The new policy is better than the old one.",
    "Training has improved the pass rate.",
    "The model has improved since last week.",
    "Ship it: the score rose.",
    "The last change paid off.",
  ],
  falls: [
    "The new policy cannot do arithmetic. Roll it back.",
    "Training has damaged the policy.",
    "The model has become worse since last week.",
    "The last change was a mistake.",
  ],
  stays: [
    "The updates did no harm: the trained policy passes as before.",
    "Training changed next to nothing.",
    "The new policy is as good as the old one.",
  ],
};
