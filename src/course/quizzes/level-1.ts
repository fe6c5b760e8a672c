/** Level 1: REINFORCE under the microscope. */

import {
  ARM_NAMES,
  type BanditStep,
  exactUpdate,
  expectedDirection,
  reinforceStep,
  softmax,
} from "../../index.ts";
import type { Form, QuizQuestion } from "../quiz.ts";
import type { Room } from "../room.ts";
import { four, logLine, metric, three } from "./look-up.ts";

const BUILT = "l1_build_bandit";
const INVERTED = "l1_sabotage_lrneg";
const SLOW = "l1_build_slow";
const UNIFORM = [0.25, 0.25, 0.25, 0.25];

const DIRECTION: Form = {
  kind: "word",
  what: "up, down or unchanged",
  words: ["up", "down", "unchanged"],
};
const ARM: Form = { kind: "word", what: "A, B, C or D", words: ARM_NAMES };

async function finalProbabilities(room: Room, run: string): Promise<number[]> {
  return softmax((await logLine<BanditStep>(room, run, -1)).logits_after);
}

export const QUESTIONS_1: readonly QuizQuestion[] = [
  {
    id: "negative-advantage",
    ask: "A sampled action has the advantage −0.4; the learning rate is 0.5. Where does its probability go?",
    form: DIRECTION,
    why: "The update is learning rate · advantage · gradient of the log-probability: one negative factor pushes down.",
    chapter: "05-log-probs-and-signs",
    runs: [],
    solve: () => expectedDirection(-0.4, 0.5),
  },
  {
    id: "two-negatives",
    ask: "The same advantage of −0.4, but the learning rate is −0.5. And now?",
    form: DIRECTION,
    why: "Two negative factors push up: what disappointed becomes more likely. That is descent, not ascent.",
    chapter: "05-log-probs-and-signs",
    runs: [],
    solve: () => expectedDirection(-0.4, -0.5),
  },
  {
    id: "step-six",
    ask: `What is the advantage in step 6 of runs/${SLOW}?`,
    form: four,
    why: "It is reward minus the mean of the five rewards before it; a reward must not judge itself.",
    chapter: "06-baseline-and-advantage",
    runs: [SLOW],
    solve: async (room) => (await logLine<BanditStep>(room, SLOW, 6)).advantage,
  },
  {
    id: "one-update",
    ask: "Four arms, all logits 0, learning rate 0.5. An arm is pulled with the advantage 0.5. What is its logit afterwards?",
    form: four,
    why: "0 + 0.5 · 0.5 · (1 − 0.25): the gradient of its own log-probability is one minus its probability.",
    chapter: "05-log-probs-and-signs",
    runs: [],
    solve: () => reinforceStep([0, 0, 0, 0], 0, 0.5, 0.5)[0] as number,
  },
  {
    id: "same-direction",
    ask: "At the uniform policy, without a baseline, the mean update of arm D is 0.075. What is it with a constant baseline of 0.5?",
    form: three,
    why: "The same: a constant multiplies a gradient whose mean is zero. A baseline changes the noise, not the goal.",
    chapter: "06-baseline-and-advantage",
    runs: [],
    solve: () => exactUpdate(UNIFORM, 0.5).mean[3] as number,
  },
  {
    id: "best-arm",
    ask: `With which probability does the trained policy of runs/${BUILT} pull arm D?`,
    form: four,
    why: "It is the last of final_probabilities in summary.json.",
    chapter: "03-bandit-and-sequence",
    runs: [BUILT],
    solve: (room) =>
      metric(
        room,
        BUILT,
        (m) => (m.final_probabilities as number[] | undefined)?.[3],
        async () => (await finalProbabilities(room, BUILT))[3],
      ),
  },
  {
    id: "inverted-arm",
    ask: `Which arm did the negative learning rate of runs/${INVERTED} make the favourite?`,
    form: ARM,
    why: "Every pull that paid better than the baseline became rarer. With this seed, as with most, the arm that pays least is what remains; with a few, luck leaves another.",
    chapter: "06-baseline-and-advantage",
    runs: [INVERTED],
    solve: async (room) => {
      const final = await finalProbabilities(room, INVERTED);
      return ARM_NAMES[final.indexOf(Math.max(...final))] as string;
    },
  },
];
