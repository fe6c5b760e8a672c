/** What can be behind two runs that are compared: the answers of the drill. */

export const CAUSES = {
  policy: {
    means: "the policy changed and nothing else; the comparison is fair",
    say: "One knob differs, the policy, and the paired rows measure the difference.",
  },
  selection: {
    means: "another number of samples for each example, the same policy",
    say: "We are in Loop B: this is selection, and nothing was learned.",
  },
  scorer: {
    means: "the scorer changed",
    say: "The reward moved because the scorer changed. The completions are the same.",
  },
  hacking: {
    means: "the reward rose, and what was wanted did not",
    say: "This is reward hacking: the scorer accepts texts that nobody would call an answer.",
  },
  parser: {
    means: "correct texts get no reward",
    say: "The parser is too brittle: a bug of the environment, not of the policy.",
  },
  "off-policy": {
    means: "the texts were not sampled from the policy that the claim is about",
    say: "These rows measure the old policy. The new one has to be sampled.",
  },
} as const;

export type Cause = keyof typeof CAUSES;

export const CAUSE_NAMES = Object.keys(CAUSES) as Cause[];

export const isCause = (word: string): word is Cause => Object.hasOwn(CAUSES, word);
