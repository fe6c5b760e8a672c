/** The nine cells: what a direction of the validation reward means beside one of the training reward. */

export type Verdict = "healthy" | "converged" | "reward hacking" | "undecided";
export type Direction = "up" | "flat" | "down";

export interface Cell {
  readonly verdict: Verdict;
  readonly meaning: string;
  readonly action: string;
}

const cell = (verdict: Verdict, meaning: string, action: string): Cell => ({
  verdict,
  meaning,
  action,
});

export const DIRECTIONS: readonly Direction[] = ["up", "flat", "down"];

/** By the direction of validation, then of the training reward. */
export const CELLS: Readonly<Record<Direction, Readonly<Record<Direction, Cell>>>> = {
  up: {
    up: cell(
      "healthy",
      "The policy learns, and what it learns holds on other examples.",
      "Continue.",
    ),
    flat: cell(
      "healthy",
      "The policy improves; the training reward is noisy, or its batches became harder.",
      "Continue.",
    ),
    down: cell(
      "undecided",
      "The two rewards disagree: other scorers, or harder batches.",
      "Score the same samples with both scorers, and read those on which they differ.",
    ),
  },
  flat: {
    up: cell(
      "converged",
      "More training reward no longer improves the policy.",
      "Stop soon, and keep the best checkpoint.",
    ),
    flat: cell(
      "undecided",
      "Nothing changes: the run has converged, or it never learned.",
      "Compare with the initial policy. Stop, or change the data, the reward or the learning rate.",
    ),
    down: cell(
      "undecided",
      "The policy loses reward in training; validation does not show it yet.",
      "Watch the next validations; lower the learning rate if it goes on.",
    ),
  },
  down: {
    up: cell(
      "reward hacking",
      "The policy exploits the reward scorer, or memorises the training examples.",
      "Stop, keep the best checkpoint, read the samples, and fix the reward.",
    ),
    flat: cell(
      "undecided",
      "The policy gets worse where it was not trained, without more reward: it overfits or drifts.",
      "Stop and keep the best checkpoint; stay closer to the initial policy.",
    ),
    down: cell(
      "undecided",
      "Training makes the policy worse.",
      "Stop; lower the learning rate, and check the sign of the reward and of the loss.",
    ),
  },
};
