/** Level 1: REINFORCE, one update at a time. */

import {
  ARM_NAMES,
  type BanditStep,
  exactUpdate,
  expectedDirection,
  reinforceStep,
  softmax,
} from "../../learn/index.ts";
import type { CheckContext } from "../check-context.ts";
import { four, logLine, metric, oneOf, questions, three } from "./answers.ts";

const BUILT = "l1_build_bandit";
const INVERTED = "l1_sabotage_lrneg";
const SLOW = "l1_build_slow";
const UNIFORM = [0.25, 0.25, 0.25, 0.25];

const DIRECTION = oneOf(["up", "down", "unchanged"]);

async function finalProbabilities(context: CheckContext, run: string): Promise<number[]> {
  return softmax((await logLine<BanditStep>(context, run, -1)).logits_after);
}

export const QUESTIONS_1 = questions("05-log-probs-and-signs", [
  {
    id: "negative-advantage",
    ask: "A sampled action has the advantage −0.4; the learning rate is 0.5. In which direction does its probability change?",
    form: DIRECTION,
    why: "The update is learning rate · advantage · gradient of the log-probability: one negative factor lowers it.",
    solve: () => expectedDirection(-0.4, 0.5),
  },
  {
    id: "two-negatives",
    ask: "The same advantage of −0.4 with a learning rate of −0.5: in which direction does it change?",
    form: DIRECTION,
    why: "Two negative factors raise it: a bad action becomes more likely. That is gradient descent, not ascent.",
    solve: () => expectedDirection(-0.4, -0.5),
  },
  {
    id: "step-six",
    ask: `What is the advantage in step 6 of runs/${SLOW}?`,
    form: four,
    why: "It is the reward minus the mean of the five rewards before it; a reward is not part of its own baseline.",
    chapter: "06-baseline-and-advantage",
    runs: [SLOW],
    solve: async (context) => (await logLine<BanditStep>(context, SLOW, 6)).advantage,
  },
  {
    id: "one-update",
    ask: "Four arms, all logits 0, learning rate 0.5. An arm is sampled with the advantage 0.5. What is its logit afterwards?",
    form: four,
    why: "0 + 0.5 · 0.5 · (1 − 0.25): the gradient of its own log-probability is one minus its probability.",
    solve: () => reinforceStep([0, 0, 0, 0], 0, 0.5, 0.5)[0] as number,
  },
  {
    id: "same-direction",
    ask: "At the uniform policy, without a baseline, the mean update of arm D is 0.075. What is it with a constant baseline of 0.5?",
    form: three,
    why: "The same: a constant times a gradient whose mean is zero. A baseline changes the variance, not the mean.",
    chapter: "06-baseline-and-advantage",
    solve: () => exactUpdate(UNIFORM, 0.5).mean[3] as number,
  },
  {
    id: "best-arm",
    ask: `With which probability does the trained policy of runs/${BUILT} sample arm D?`,
    form: four,
    why: "It is the last of final_probabilities in summary.json.",
    chapter: "03-bandit-and-sequence",
    runs: [BUILT],
    solve: (context) =>
      metric(
        context,
        BUILT,
        (m) => (m.final_probabilities as number[] | undefined)?.[3],
        async () => (await finalProbabilities(context, BUILT))[3],
      ),
  },
  {
    id: "inverted-arm",
    ask: `Which arm is most probable after training with a negative learning rate in runs/${INVERTED}?`,
    form: oneOf(ARM_NAMES),
    why: "Every action with a reward above the baseline became less likely. With this seed, as with most seeds, the arm with the lowest reward remains.",
    chapter: "06-baseline-and-advantage",
    runs: [INVERTED],
    solve: async (context) => {
      const final = await finalProbabilities(context, INVERTED);
      return ARM_NAMES[final.indexOf(Math.max(...final))] as string;
    },
  },
]);
