/** What can be wrong with a run, how it shows in its curves, and the ablation that confirms it. */

/** Changes that confirm or refute a cause, each of one thing. */
export const ABLATIONS = {
  seed: "the same settings with other seeds",
  "learning-rate": "a tenth of the learning rate, or less",
  "kl-coefficient": "a KL coefficient 100 times larger or smaller",
  "max-tokens": "a larger limit on the tokens of a completion",
  reward: "another reward scorer: the one used for validation",
  sign: "one update on one batch: do rewarded completions become likelier?",
  "log-probs": "log-probs computed again before the update, in place of the recorded ones",
  "value-coefficient": "another weight of the value loss",
  "clip-range": "another clip range",
  temperature: "another sampling temperature",
} as const;

export type Ablation = keyof typeof ABLATIONS;

export interface Cause {
  /** In a few words. */
  readonly title: string;
  /** What the curves show, and what rules out the other causes. */
  readonly shows: string;
  readonly fix: string;
  readonly ablation: Ablation;
}

export const CAUSES = {
  "nothing-wrong": {
    title: "nothing: a run that learns",
    shows:
      "Reward and validation rise together; KL grows slowly; entropy falls because the reward rises; length settles; few tokens are clipped.",
    fix: "None. Look at the samples all the same, and repeat it with other seeds before you report it.",
    ablation: "seed",
  },
  "wrong-sign": {
    title: "the wrong sign of the advantages or of the learning rate",
    shows:
      "The reward falls from the first steps to 0 and validation falls with it, at a KL and a clip fraction that an ordinary learning rate gives. A learning rate that is too high ruins the policy within a few steps, with a much larger KL.",
    fix: "Correct the sign of the advantages, of the loss or of the update.",
    ablation: "sign",
  },
  "aliased-reference": {
    title: "the reference is the policy itself",
    shows:
      "The KL is exactly 0 at every step although the reward rises and the entropy falls: a policy that changes has a KL above 0 to a frozen reference.",
    fix: "Copy the weights of the reference before the first update, and compare its hash at the end.",
    ablation: "kl-coefficient",
  },
  "wrong-log-probs": {
    title: "recorded log-probs that are not those of the sampled tokens",
    shows:
      "A tenth of the tokens or more is clipped at the first step already, while the KL is still small; then the reward falls, the entropy rises and the KL grows. A wrong sign has an ordinary clip fraction.",
    fix: "Record the log-prob of each token with that token, at the temperature of the sampling.",
    ablation: "log-probs",
  },
  "learning-rate-too-high": {
    title: "a learning rate that is far too high",
    shows:
      "From the second step on the KL is large, above 1, and reward and validation drop to 0 within a few steps and stay there; the length drifts, and then nothing is clipped because nothing is rewarded. With wrong log-probs the KL grows slowly.",
    fix: "Divide the learning rate by 10 until the first steps are stable; keep the gradient clipped.",
    ablation: "learning-rate",
  },
  "reward-favours-length": {
    title: "a reward that pays for length (reward hacking)",
    shows:
      "The reward rises with the length, and validation falls: the reward and the goal have come apart.",
    fix: "Correct the scorer, or subtract a cost for length; hold out a second scorer for validation.",
    ablation: "reward",
  },
  "no-reward": {
    title: "a scorer that rewards nothing",
    shows:
      "The reward is 0 at every step, so that no group has a difference to learn from: KL 0, entropy, length and validation stay as they were.",
    fix: "Score known good answers with the scorer (validate-scorer), and correct format or parser.",
    ablation: "reward",
  },
  "kl-penalty-too-strong": {
    title: "a KL penalty that is too strong",
    shows:
      "The KL stays small, but is not 0; reward and validation hardly rise and the entropy stays where it was, although there is reward to be had. Where nothing is rewarded, the KL is exactly 0.",
    fix: "Lower the KL coefficient, or let a controller aim at a KL.",
    ablation: "kl-coefficient",
  },
  "completions-cut": {
    title: "completions cut by the limit on tokens",
    shows:
      "The length is close to one value from the first step on, the limit, and the reward is 0, while validation, with a larger limit, shows that the policy can do the task.",
    fix: "Raise the limit, or ask for shorter answers; count the truncated completions.",
    ablation: "max-tokens",
  },
  "value-head-untrained": {
    title: "a value head that does not learn",
    shows:
      "The value loss grows with the reward and does not come down again, where that of a value head that learns rises at first and then falls; the baseline of PPO is then no better than a constant. The reward may still rise.",
    fix: "Give the value loss a weight above 0 or more epochs, or use a method without a value head.",
    ablation: "value-coefficient",
  },
} as const satisfies Readonly<Record<string, Cause>>;

export type CauseName = keyof typeof CAUSES;

export const CAUSE_NAMES = Object.keys(CAUSES) as CauseName[];
export const ABLATION_NAMES = Object.keys(ABLATIONS) as Ablation[];
