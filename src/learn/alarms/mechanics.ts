/** Alarms of the training step: no gradient, or log-probs that do not match. */

import type { StepRecord } from "../../runs/train-records.ts";
import {
  type Check,
  column,
  comparedRows,
  type History,
  metric,
  percent,
  show,
} from "./history.ts";
import { whyUnrewarded } from "./reasons.ts";

/** No gradient. */
export const zeroGradient: Check = ({ steps, facts }, { zeroGroups, zeroSteps }) => {
  const last = steps.at(-1);
  // Without a comparison in groups, equal rewards of a group say nothing.
  const share = facts.grouped === false ? undefined : metric(last, "reward/zero_std_groups");
  const gradient = metric(last, "gradient_norm");
  // A policy-gradient loss can be 0 where advantages cancel, so it counts only without a gradient norm.
  const still = gradient === undefined ? metric(last, "loss") === 0 : gradient === 0;
  const shares = column(steps.slice(-zeroSteps), "reward/zero_std_groups");
  const often =
    share !== undefined &&
    shares.length === zeroSteps &&
    shares.every((value) => value >= zeroGroups);
  if (!last || !(share === 1 || often || still)) return undefined;
  const evidence = {
    zero_std_groups: share,
    gradient_norm: gradient,
    loss: metric(last, "loss"),
    reward_mean: metric(last, "reward/mean"),
  };
  if (share === undefined || share < zeroGroups)
    return {
      alarm: "zero_gradient",
      stops: false,
      message: withoutGroups(metric(last, "tokens"), facts),
      evidence,
    };
  return {
    alarm: "zero_gradient",
    stops: false,
    message: `Why the loss is 0: in ${often && share < 1 ? `${percent(share)} of the groups, and for ${zeroSteps} steps in ${percent(zeroGroups)} or more of them,` : "every group"} all rewards are equal${facts.judged ? "" : whichWay(last)}, so their advantages are 0 and nothing is learned from them${gradient ? "" : "; the gradient is 0 too"}.${facts.judged ? ` ${judgedEqual(last)}` : `${outcome(last) === "failed" ? ` Why the reward is 0:${unrewarded(last, facts)}` : ""} ${advice(last)}`}`,
    evidence,
  };
};

/** A score says nothing of passing: the judge saw no difference, or there was none. */
function judgedEqual(step: StepRecord): string {
  const [same, all] = [metric(step, "judge/identical") ?? 0, metric(step, "judge/groups") ?? 0];
  return same > 0
    ? `In ${same} of ${all} groups all completions are the same: raise rollouts.temperature, or start with a policy that varies more.`
    : "The completions differ, and the judge scores them alike: read some, and give it a rubric that tells them apart (--rubric).";
}

function withoutGroups(tokens: number | undefined, { advice }: History["facts"]): string {
  const seen =
    tokens === 0
      ? "Why the loss is 0: no token of this step is trained on, so its gradient is 0."
      : "The gradient of this step is exactly 0.";
  return `${seen} Nothing was learned. Check whether ${advice?.still ?? "the completions are empty or masked, every reward equals its baseline, or the trained weights are frozen"}.`;
}

function unrewarded(step: StepRecord, { maxTokens, advice }: History["facts"]): string {
  const setting = advice?.maxTokens ?? "rollouts.max_tokens";
  return whyUnrewarded(step, { maxTokens, setting }) || " no completion passes.";
}

function whichWay(step: StepRecord): string {
  const reward = metric(step, "reward/mean");
  if (reward === undefined) return "";
  const words = { passed: "all passed", failed: "all failed", mixed: "some passed, others failed" };
  return ` (mean reward ${show(reward)}: ${words[outcome(step)]})`;
}

function outcome(step: StepRecord): "passed" | "failed" | "mixed" {
  const reward = metric(step, "reward/mean") ?? 0;
  if (reward >= 0.999) return "passed";
  return (metric(step, "reward/max") ?? reward) <= 0 ? "failed" : "mixed";
}

function advice(step: StepRecord): string {
  return {
    passed: "Use harder examples, or stop: these are solved.",
    failed:
      "Use easier examples, larger groups (rollouts.group) or partial rewards, or train with sft first.",
    mixed:
      "Use larger groups (rollouts.group) or a higher temperature, and leave out examples that always or never pass.",
  }[outcome(step)];
}

/** The reference is identical to the policy. */
export const referenceAliased: Check = (history, { aliasedSteps, aliasedRows }) => {
  const { steps, facts } = history;
  if (!facts.usesReference) return undefined;
  const seen = sameWeights(history, aliasedSteps);
  if (!seen) return undefined;
  // The metrics of a step are taken before its own update.
  const updates = steps
    .slice(0, -1)
    .filter((step) => positive(step, "gradient_norm") && positive(step, "learning_rate"));
  if (updates.length < aliasedSteps) return undefined;
  // With a share of the rows in small batches, it takes more steps to see enough of them.
  if (comparedRows(steps.slice(1)) < aliasedRows) return undefined;
  return {
    alarm: "reference_aliased",
    stops: true,
    message: `After ${updates.length} updates with a gradient ${seen}: policy and reference are still identical. Probably they share the same weights, so that a KL penalty would have no effect; or the weights do not change. Copy the weights for the reference, and check that the learning rate reaches the optimiser.`,
    evidence: { updates: updates.length, loss: metric(steps.at(-1), "loss") },
  };
};

function positive(step: StepRecord, name: string): boolean {
  return (metric(step, name) ?? 0) > 0;
}

/** The metric that shows it, in words; the most reliable one that the run has. */
function sameWeights({ steps, evaluations }: History, aliasedSteps: number): string | undefined {
  const names = ["check/reference_gap", "kl/k1", "kl/k2", "kl/k3", "rewards/margin"];
  const name = names.find((candidate) => metric(steps.at(-1), candidate) !== undefined);
  if (name) return steps.every((step) => metric(step, name) === 0) ? `${name} is 0` : undefined;
  // Two units in the last place of float32, for the order of summation.
  const coin = (step: StepRecord) => Math.abs((metric(step, "loss") ?? 0) - Math.LN2) < 2e-7;
  if (steps.length > 0 && steps.every(coin)) return "the loss is still ln 2";
  const { step = 0, kl_exact: kl } = evaluations.at(-1) ?? {};
  return kl === 0 && step >= aliasedSteps ? "the exact KL is 0" : undefined;
}

/** Recomputed log-probs differ from those at sampling. */
export const logprobMismatch: Check = ({ steps }, { logprobGap: limit }) => {
  const gap = metric(steps.at(-1), "check/logprob_gap");
  if (gap === undefined || gap <= limit) return undefined;
  return {
    alarm: "logprob_mismatch",
    stops: true,
    message: `Before the first update of the step, recomputed log-probs differ from the sampled ones by up to ${show(gap)} (limit ${show(limit)}). Probably targets are shifted by one token, padding is counted, or another policy sampled. Compare the two token by token for one completion.`,
    evidence: { logprob_gap: gap, limit },
  };
};

/** Sampled from another distribution than the one that is differentiated. */
export const samplingMismatch: Check = ({ steps }, { samplingGap: limit }) => {
  const gap = metric(steps.at(-1), "check/sampling_gap");
  if (gap === undefined || Math.abs(gap) <= limit) return undefined;
  return {
    alarm: "sampling_mismatch",
    stops: true,
    message: `Tokens are ${show(Math.exp(Math.abs(gap)))} times ${gap > 0 ? "more likely" : "less likely"} under the sampling distribution than under the policy (${show(gap)} nats per token, limit ${show(limit)}). They are sampled with a temperature, top-k or top-p, but the loss uses the full softmax, so the gradient is biased. Sample at temperature 1 without top-k and top-p.`,
    evidence: { sampling_gap: gap, limit },
  };
};
