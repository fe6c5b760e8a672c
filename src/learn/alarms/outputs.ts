/** Alarms of what the policy says: the same again, nothing but one thing, too long, too far off. */

import {
  type Change,
  type Check,
  change,
  column,
  evaluationChange,
  freshEvaluation,
  type History,
  metric,
  percent,
  recent,
  show,
} from "./history.ts";
import type { Limits } from "./limits.ts";
import { fullMarkIsOne } from "./reward.ts";

/** One answer to everything. A high reward is no excuse: it may be why. */
export const repeatedOutputs: Check = (history, limits) => {
  // A step may have few prompts, each answered many times; the validation set answers each once.
  const validated = history.evaluations.length > 1;
  const moved = validated
    ? evaluationChange(history, "repeated")
    : change(history.steps, "repeated", limits.window);
  if (!moved || moved.now < moved.start + limits.repeated * (1 - moved.start)) return undefined;
  const { start, now } = moved;
  return {
    alarm: "repeated_outputs",
    stops: false,
    message: `${percent(now)} of all completions are one and the same text (${percent(start)} at the start).${validated ? "" : " With one or two prompts per step that is natural; otherwise"} ${validated ? "The" : "the"} policy has probably found an answer that pays whatever the question, or has collapsed. Read that text in the samples; make the scorer refuse it, or add an entropy or KL term.`,
    evidence: { start, now },
  };
};

/**
 * Little is tried any more. It is raised by a level alone, so that a policy which learns and grows sure
 * raises it too; the figures that tell the two apart go with it. Losses on given texts are meant to
 * lower the entropy, and do not count.
 */
export const entropyCollapse: Check = (history, limits) => {
  const { steps } = history;
  if (metric(steps.at(-1), "reward/mean") === undefined) return undefined;
  const logged = metric(steps.at(-1), "entropy") !== undefined;
  const moved = logged
    ? change(steps, "entropy", limits.window)
    : evaluationChange(history, "entropy");
  const now = moved?.now ?? recent(steps, "entropy", limits.window);
  if (now === undefined) return undefined;
  const lost = moved !== undefined && now <= limits.entropyShare * moved.start;
  if ((!lost && now > limits.entropyLeast) || isSolved(history, limits)) return undefined;
  const reward = change(steps, "reward/mean", limits.window);
  const evidence = {
    ...{ start: moved?.start, now },
    reward_start: reward?.start,
    reward_now: reward?.now ?? recent(steps, "reward/mean", limits.window),
    zero_std_groups: recent(steps, "reward/zero_std_groups", limits.window),
  };
  return {
    alarm: "entropy_collapse",
    stops: false,
    message: `The entropy is ${show(now)} nats per token${from(moved?.start)}, and the task is not solved.${signs(evidence)} Learning makes a policy sure, and as long as the reward rises, or rewards differ in most groups, that is no harm. Otherwise the samples of a group are nearly the same and nothing new can be found: lower the learning rate, raise the upper clip or the KL coefficient, or begin from an earlier checkpoint.`,
    evidence,
  };
};

const from = (start?: number) => (start === undefined ? "" : `, from ${show(start)} at the start`);

/** What tells a policy that grows sure from one that is stuck. */
function signs(seen: {
  readonly reward_start: number | undefined;
  readonly reward_now: number | undefined;
  readonly zero_std_groups: number | undefined;
}): string {
  const { reward_start: start, reward_now: now, zero_std_groups: equal } = seen;
  if (now === undefined) return "";
  const groups =
    equal === undefined ? "" : `, and in ${percent(equal)} of the groups all rewards are equal`;
  return ` The mean reward is ${show(now)}${from(start)}${groups}.`;
}

/** Answers that grow or shrink, or that are cut off. */
export const lengthDrift: Check = (history, limits) => {
  const { steps, facts } = history;
  const of = (step: string, evaluation: "length_mean" | "truncated"): Change | undefined =>
    metric(steps.at(-1), step) === undefined
      ? evaluationChange(history, evaluation)
      : change(steps, step, limits.window);
  const length = of("length/mean", "length_mean");
  const cut = of("length/truncated", "truncated");
  const room = facts.maxTokens === undefined ? "" : ` of at most ${facts.maxTokens}`;
  const evidence = {
    length_start: length?.start,
    length_now: length?.now,
    truncated_start: cut?.start,
    truncated_now: cut?.now,
    max_tokens: facts.maxTokens,
  };
  // A share that was high and falls is a policy that learns to come to an end.
  if (cut && cut.now >= limits.truncated && cut.now >= 0.9 * cut.start)
    return {
      alarm: "length_drift",
      stops: false,
      message: `${percent(cut.now)} of the completions are cut off (${percent(cut.start)} at the start)${room && `, at ${facts.maxTokens} tokens`}. What is cut off is judged without its end. Allow more tokens, or reward brevity; if the texts ramble, read them.`,
      evidence,
    };
  if (!length || Math.abs(length.now - length.start) < limits.lengthTokens) return undefined;
  const grew = length.now >= limits.lengthFactor * length.start;
  const shrank = length.now * limits.lengthFactor <= length.start && !(cut && cut.start >= 0.5);
  if (!grew && !shrank) return undefined;
  return {
    alarm: "length_drift",
    stops: false,
    message: `Completions have ${grew ? "grown" : "shrunk"} from ${show(length.start)} to ${show(length.now)} tokens${room}. ${grew ? "Length itself may be what the scorer rewards, or the loss does not charge for it" : "The policy may have found that saying little is safest"}. Compare samples with older ones, and check how the loss is divided by the length.`,
    evidence,
  };
};

/** Far from the reference; drift alone is no proof of harm, so the run goes on. */
export const klOverLimit: Check = (history, { kl: limit, window }) => {
  if (limit === null) return undefined;
  const exact = freshEvaluation(history)?.kl_exact ?? undefined;
  const name = ["kl/k3", "kl/k1", "kl/k2"].find(
    (estimator) => metric(history.steps.at(-1), estimator) !== undefined,
  );
  // The median, because a single rare token can blow up the mean of k3.
  const values = column(history.steps.slice(-window), name ?? "").sort((a, b) => a - b);
  const estimate = values.length < window ? undefined : values[Math.floor(window / 2)];
  const now = Math.max(exact ?? 0, estimate ?? 0);
  if (now <= limit) return undefined;
  return {
    alarm: "kl_over_limit",
    stops: false,
    message: `The KL divergence from the reference is ${show(now)} nats per token, above the limit of ${show(limit)}. The policy speaks another language than the one it started with; rewards, judges and the reference are no longer at home there. Raise the KL coefficient, lower the learning rate, or raise the limit if this is wanted.`,
    evidence: { kl_exact: exact, estimate, estimator: estimate === undefined ? null : name, limit },
  };
};

/** Whether so much is earned already that trying other things would be a loss. */
function isSolved({ steps, evaluations }: History, { window, solved }: Limits): boolean {
  const reward = fullMarkIsOne(steps) ? recent(steps, "reward/mean", window) : undefined;
  return (evaluations.at(-1)?.pass_rate ?? reward ?? 0) >= solved;
}
