/** Notes of the track that explain their subject, by heading. */

export const EXPLAINED: Readonly<Record<string, string>> = {
  "Why agreement was not enough":
    "The biased judge still orders nine labelled pairs in ten as the labels do, because most of the better replies are not the shorter ones. Only the probe shows the length bias: the same reply with neutral text gains score, and nothing else can be the cause of that gain.",
  "How a policy would exploit it":
    "A policy that learns from this reward finds that longer replies score higher whatever they say. It would learn to add polite padding, the mean score of the judge would climb, and customers would read more words and get less help, which labels would show as a fall.",
  "What the gate may rest on":
    "On an audit that has the same fingerprint as the judged runs, with the rubric that they used, and that acquitted the judge of every fault within margins which matter for our decision.",
  Reward:
    "The number that the scorer gives to one completion after parsing its text; it is the only signal that a learning run gets about that answer.",
  Metric:
    "A figure over many rows, such as the mean reward or the pass rate on a fixed data set, which we report when we compare two runs.",
  Objective:
    "What optimisation tries to maximise: the expected reward under the policy, possibly minus a penalty for moving away from the reference.",
  Loss: "A function whose gradient gives the next update, here minus the advantage times the log probability of what was sampled; its value alone says little.",
  Policy:
    "The distribution from which tokens are sampled, given a prompt. Only changed parameters make it another one; picking among its samples does not.",
  Environment:
    "Everything around the policy: prompts, data, sampling settings, and the parser that turns text into something the verifier can judge.",
  "What failed in the sabotage, and why":
    "Only the second decision got credit, so the logits of the first one received no gradient and stayed at zero for all two hundred episodes. The reward at the end depends on both choices, yet half of the policy never learned which branch leads to better states, and the expected reward stopped far below the best.",
  "Why the sabotage runs behave differently":
    "With a negative learning rate every update goes against its direction: an action with a positive advantage loses probability, one with a negative advantage gains it, so the policy ends on the worst arm. With the rate 2.0 the direction is right and the steps are too large: the first few rewards of a seed decide. Seed 0 happens to favour D; over a hundred seeds it ends lower.",
  "Why beta = 0 is an attractive disaster":
    "Without the penalty only the reward counts, and the candidate with the largest reward wins, however far it is from the reference. The number that we look at becomes the best one of all, which is what makes it attractive; what it costs, the drift, is no longer in the sum, so nobody sees it until the outputs are read.",
  "Why optimisation without a constraint drifts far away":
    "An optimiser takes every gain of the proxy, and the largest gains lie where the reference would hardly ever go: extreme outputs have an extreme score because nobody wrote the rule with them in mind. As long as nothing charges for the distance, each step moves probability a little further in that direction, and there is no point at which it stops.",
  "The rules I expect":
    "One line that begins with the prefix Final and a colon, then exactly one space and an integer. No leading zeros, no plus sign, a minus only before a digit other than zero. White space around the whole text may be ignored; anything before or after it on another line is an error of the format.",
  "Why they worked":
    "The verifier asks whether the expected integer occurs anywhere in the text, and nothing else. A text with many numbers contains it by chance, a text with a negation contains it too. The score therefore measures coverage of numbers, a proxy that agrees with an answer only as long as nobody tries.",
  "The patch":
    "The completion is parsed as a whole: a single line with the prefix and one integer, compared with the expected one. Every text with a second number or a further line is rejected as a class, not string by string.",
  "Regression tests":
    "One test gives every exploit to the patched scorer and asks for a reward of zero, another gives the honest answers and asks for one.",
};
