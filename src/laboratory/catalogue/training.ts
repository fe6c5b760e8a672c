/** Bugs of a training run: most make no error, and some raise the reward. */

import { canonicalJson, type JsonObject } from "../../core/json.ts";
import type { Laboratory } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { SMALL_DIGIT, trained } from "../training.ts";

const HONEST_TRAINING = "The same training without the bug.";

/** Twins with the same settings are one training. */
const healthy = (lab: Laboratory, settings: JsonObject) =>
  lab.once(`healthy ${canonicalJson(settings)}`, () => trained(lab, { name: "healthy", settings }));

/** A bug that `train --set sabotage=…` injects. */
function bug(
  name: string,
  injected: string,
  alarm: string,
  trick: string,
  settings: JsonObject,
): Sabotage {
  return {
    ...{ name, family: "training", trick, honest: HONEST_TRAINING },
    caught: { check: "alarm", code: alarm },
    play: async (lab, cheat) =>
      cheat
        ? trained(lab, { name, settings: { ...settings, sabotage: injected } })
        : healthy(lab, settings),
  };
}

/** A scorer that is no good for training. */
function reward(name: string, alarm: string, trick: string, text: string, steps: number): Sabotage {
  return {
    ...{ name, family: "training", trick, honest: "A scorer that tells answers apart." },
    caught: { check: "alarm", code: alarm },
    play: async (lab, cheat) =>
      cheat ? trained(lab, { name, settings: { steps }, scorer: text }) : healthy(lab, { steps }),
  };
}

const scorer = (body: string) => `export const name = "digit", version = "1", spec = "a digit";
export function score(example, completion) {
  ${body}
}
`;

const THROWS =
  'if (!/^[0-4]/.test(completion)) throw new Error("unclear"); return { reward: 1, code: "digit", details: {} };';

/** A high rate would be suspected first. */
const AT_AN_ORDINARY_RATE = { steps: 60, rate: { peak: 0.0014 } };

export const TRAINING: readonly Sabotage[] = [
  bug(
    "inverted-sign",
    "inverted_rate",
    "learning_backwards",
    "The optimiser steps up where it should step down; the recorded learning rate is right.",
    AT_AN_ORDINARY_RATE,
  ),
  bug(
    "inverted-advantages",
    "inverted_advantages",
    "learning_backwards",
    "Advantages have the wrong sign, so that good answers become less likely.",
    AT_AN_ORDINARY_RATE,
  ),
  bug(
    "aliased-reference",
    "aliased_reference",
    "reference_aliased",
    "The reference is the policy itself, so that the KL penalty is always 0 and the policy drifts.",
    { steps: 12, kl: { mode: "fixed", coefficient: 0.01 } },
  ),
  bug(
    "shifted-log-probs",
    "shifted_logprobs",
    "logprob_mismatch",
    "Every token has the log-prob of the token before it.",
    { steps: 1 },
  ),
  bug(
    "truncated-sampling",
    "truncated_sampling",
    "sampling_mismatch",
    "Completions are sampled from the three likeliest tokens, and the loss assumes all of them.",
    { steps: 1 },
  ),
  bug(
    "reward-on-the-prompt",
    "rewarded_prompt",
    "logprob_mismatch",
    "The prompt's tokens are trained on as if the policy had written them.",
    { steps: 1 },
  ),
  bug(
    "shifted-mask",
    "shifted_mask",
    "logprob_mismatch",
    "The mask begins a token too early, so that the prompt's last token is trained on and the end is not.",
    { steps: 1 },
  ),
  {
    ...{ name: "hot-rollouts", family: "training" },
    trick: "Samples at temperature 2 and trains as if it had been 1, for more variety.",
    honest: "Samples at temperature 1.",
    caught: { check: "alarm", code: "sampling_mismatch" },
    play: async (lab, cheat) =>
      trained(lab, {
        name: "hot-rollouts",
        settings: {
          steps: 1,
          rollouts: { prompts: 8, group: 8, max_tokens: 4, temperature: cheat ? 2 : 1 },
        },
      }),
  },
  reward(
    "constant-reward",
    "zero_gradient",
    "The scorer gives every answer the same reward, so that nothing is learned.",
    scorer('return { reward: 0.5, code: "same", details: {} };'),
    1,
  ),
  reward(
    "scorer-always-right",
    "perfect_score",
    "The scorer accepts everything, and the reward curve looks perfect.",
    scorer('return { reward: 1, code: "right", details: {} };'),
    6,
  ),
  {
    ...{ name: "scorer-breaks-in-training", family: "training" },
    trick: "The scorer throws on some answers, which would otherwise count as 0 or vanish.",
    honest: "A scorer that scores every answer.",
    caught: { check: "train", code: "exit 65", says: /gave no reward/ },
    play: async (lab, cheat) =>
      trained(lab, {
        ...{ name: "scorer-breaks-in-training", settings: { steps: 2 } },
        ...(cheat && { scorer: scorer(THROWS) }),
      }),
  },
  {
    ...{ name: "scorer-swapped", family: "training" },
    trick: "Pauses a training and resumes it with a scorer that accepts everything.",
    honest: "Resumes with the same scorer.",
    caught: { check: "train", code: "exit 64", says: /scorer|differ|something else/ },
    async play(lab, cheat) {
      const settings = { steps: 4 };
      const { dir } = await trained(lab, {
        ...{ name: "scorer-swapped", settings, saveEvery: 2, stopAfter: 3 },
      });
      return trained(lab, {
        ...{ name: "scorer-swapped", settings, saveEvery: 2, outdir: dir, resume: true },
        ...(cheat && { scorer: SMALL_DIGIT.replace("[0-4]", "[0-9]") }),
      });
    },
  },
];
