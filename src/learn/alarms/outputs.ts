/** Alarms of the completions: repetition, low entropy, length, distance from the reference. */

import type { StepRecord } from "../../runs/train-records.ts";
import {
  type Change,
  type Check,
  change,
  column,
  comparedRows,
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

/** One completion for all prompts, even if the reward is high. */
export const repeatedOutputs: Check = (history, limits) => {
  // A step may have few prompts with many completions each; validation has one per prompt.
  const validated = history.evaluations.length > 1;
  const moved = validated
    ? evaluationChange(history, "repeated")
    : change(history.steps, "repeated", limits.window);
  if (!moved || moved.now < moved.start + limits.repeated * (1 - moved.start)) return undefined;
  const { start, now } = moved;
  return {
    alarm: "repeated_outputs",
    stops: false,
    message: `${percent(now)} of all completions are the same text (${percent(start)} at the start).${validated ? "" : " With one or two prompts per step that is expected; otherwise"} ${validated ? "The" : "the"} policy probably found a completion that is rewarded for every prompt, or has collapsed. Read it in the samples; ${advised(history)}`,
    evidence: { start, now },
  };
};

function advised({ steps, facts: { advice } }: History): string {
  const closer = advice?.closer ?? "raise the KL coefficient";
  return metric(steps.at(-1), "reward/mean") === undefined
    ? `count it in the training data, or ${closer}.`
    : `make the scorer reject it, or ${closer}.`;
}

/**
 * Low entropy of a policy that did not get better with it. One that learns its task becomes certain, so
 * low entropy with a reward that is high, or has risen, is what success looks like. Losses on given
 * texts lower the entropy by design and do not count.
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
  if (!lost && now > limits.entropyLeast) return undefined;
  const reward = change(steps, "reward/mean", limits.window);
  if (isSolved(history, limits) || isSolving(history, reward, limits)) return undefined;
  const evidence = {
    ...{ start: moved?.start, now },
    reward_start: reward?.start,
    reward_now: reward?.now ?? recent(steps, "reward/mean", limits.window),
    zero_std_groups: recent(steps, "reward/zero_std_groups", limits.window),
  };
  return {
    alarm: "entropy_collapse",
    stops: false,
    message: `The entropy is ${show(now)} nats per token${from(moved?.start)}, and the reward has not risen with it.${signs(evidence)} The samples of a prompt are nearly identical, so that nothing new is explored: ${history.facts.advice?.explore ?? "lower the learning rate, raise the KL coefficient"}, or start from an earlier checkpoint.`,
    evidence,
  };
};

const from = (start?: number) => (start === undefined ? "" : `, from ${show(start)} at the start`);

/** The evidence that distinguishes a certain policy from a stuck one. */
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

/** Completions that become longer or shorter, or are truncated. */
export const lengthDrift: Check = (history, limits) => {
  const { steps, facts } = history;
  // Random weights write to the limit until the end of a completion is learned.
  if (facts.scratch) return undefined;
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
  // A falling share means that the policy learns to end its completions.
  if (cut && cut.now >= limits.truncated && cut.now >= 0.9 * cut.start)
    return {
      alarm: "length_drift",
      stops: false,
      message: `${percent(cut.now)} of the completions are truncated (${percent(cut.start)} at the start)${room && `, at ${facts.maxTokens} tokens`}. They are scored without their end. Allow more tokens (${facts.advice?.maxTokens ?? "max_tokens"}); read the samples.`,
      evidence,
    };
  if (!length || Math.abs(length.now - length.start) < limits.lengthTokens) return undefined;
  const grew = length.now >= limits.lengthFactor * length.start;
  const shrank = length.now * limits.lengthFactor <= length.start && !(cut && cut.start >= 0.5);
  if (!grew && !shrank) return undefined;
  return {
    alarm: "length_drift",
    stops: false,
    message: `Completions have ${grew ? "grown" : "shrunk"} from ${show(length.start)} to ${show(length.now)} tokens${room}. ${why(grew, metric(steps.at(-1), "reward/mean") !== undefined)}. Compare samples with older ones${facts.advice?.length ?? ", and check the setting algorithm.reduction"}.`,
    evidence,
  };
};

function why(grew: boolean, rewarded: boolean): string {
  if (!rewarded) return "The training data may have completions of another length";
  return grew
    ? "The scorer may reward length, or the loss may not account for it"
    : "The policy may have found that short completions are safer";
}

/** Far from the reference; the run continues, because KL alone does not show harm. */
export const klOverLimit: Check = (history, { kl: limit, window, klRows }) => {
  const { steps, facts } = history;
  // From random weights every policy goes far.
  if (limit === null || facts.scratch) return undefined;
  const exact = freshEvaluation(history)?.kl_exact ?? undefined;
  const name = ["kl/k3", "kl/k1", "kl/k2"].find(
    (estimator) => metric(steps.at(-1), estimator) !== undefined,
  );
  // The median, because a single rare token can dominate the mean of k3. The limit is the same for a
  // share of the rows: most tokens have a small k3, so a median of fewer rows tends to be lower, and
  // the alarm comes later rather than falsely. Very few rows are joined over more steps.
  const count = stepsWithRows(steps, window, klRows);
  const values = column(steps.slice(-count), name ?? "").sort((a, b) => a - b);
  const estimate = values.length < count ? undefined : values[Math.floor(count / 2)];
  const now = Math.max(exact ?? 0, estimate ?? 0);
  if (now <= limit) return undefined;
  return {
    alarm: "kl_over_limit",
    stops: false,
    message: `The KL divergence from the reference is ${show(now)} nats per token, above the limit of ${show(limit)}. The completions differ much from those of the initial policy, so scorers may not be valid for them. To stay nearer, ${facts.advice?.closer ?? "raise the KL coefficient"} or lower the learning rate; raise kl_limit if this is intended.`,
    evidence: {
      ...{ kl_exact: exact, estimate, estimator: estimate === undefined ? null : name, limit },
      rows: metric(steps.at(-1), "kl/rows"),
    },
  };
};

/** How many of the last steps have compared so many rows: at least `least`, and more than there are if too few. */
function stepsWithRows(steps: readonly StepRecord[], least: number, rows: number): number {
  let count = least;
  while (count <= steps.length && comparedRows(steps.slice(-count)) < rows) count++;
  return count;
}

/** Whether the task is nearly solved, so that low entropy is expected. */
function isSolved(history: History, { window, solved }: Limits): boolean {
  const { steps, evaluations, facts } = history;
  const reward = fullMarkIsOne(history) ? recent(steps, "reward/mean", window) : undefined;
  // Without labels the pass rate says only what a judge prefers to the initial policy.
  const passed = facts.judged?.labelled === false ? undefined : evaluations.at(-1)?.pass_rate;
  return (passed ?? reward ?? 0) >= solved;
}

/** Whether the reward has risen by a part of what was missing, and samples still differ where they fail. */
function isSolving(
  history: History,
  reward: Change | undefined,
  { solving, stuckGroups, window }: Limits,
): boolean {
  const { steps, evaluations } = history;
  const [first, last] = [evaluations[0], evaluations.at(-1)];
  const validated = first && last && { start: first.reward_mean, now: last.reward_mean };
  const risen = [fullMarkIsOne(history) ? reward : undefined, validated].some(
    (moved) => moved !== undefined && moved.now - moved.start > solving * (1 - moved.start),
  );
  // At least so many groups fail as a whole: the share of equal groups less those that can all pass.
  const failing =
    (recent(steps, "reward/zero_std_groups", window) ?? 0) -
    (recent(steps, "reward/mean", window) ?? 0);
  return risen && failing < stuckGroups;
}
