/** What is recorded of a batch of episodes. */

import type { KlEstimator } from "../../engine/loss.ts";
import { klEstimate } from "../../engine/loss-graph.ts";
import { allEqual, deviation, mean } from "../parts/advantages.ts";
import type { CostLimit } from "../parts/penalties.ts";
import { repetitionOf } from "../parts/repetition.ts";
import { completionOf, type Episode } from "../play.ts";

/** Log-probs of the policy's own tokens when they were sampled. */
export function logprobsOf({ generations }: Episode): readonly number[] {
  return generations.flatMap(({ logprobs }) => logprobs ?? []);
}

/** Estimates of the KL to the reference from the tokens of the rows that have its log-probs. */
export function klOf(
  episodes: readonly Episode[],
  /** By row; undefined where it was not computed. */
  reference: readonly (Float32Array | undefined)[],
) {
  const totals: Record<KlEstimator, number> = { k1: 0, k2: 0, k3: 0 };
  let [rows, tokens, gap] = [0, 0, 0];
  for (const [i, episode] of episodes.entries()) {
    const others = reference[i];
    if (!others) continue;
    rows++;
    for (const [t, logprob] of logprobsOf(episode).entries()) {
      const other = others[t] as number;
      for (const kind of ["k1", "k2", "k3"] as const) {
        totals[kind] += klEstimate(kind, logprob, other);
      }
      gap = Math.max(gap, Math.abs(logprob - other));
      tokens++;
    }
  }
  const per = (n: number) => ({ k1: totals.k1 / n, k2: totals.k2 / n, k3: totals.k3 / n });
  const token = per(tokens);
  return {
    perEpisode: per(rows),
    metrics: {
      "kl/k1": token.k1,
      "kl/k2": token.k2,
      "kl/k3": token.k3,
      // Absent where the estimates are from all rows, as in runs that could not choose.
      ...(rows < episodes.length && { "kl/rows": rows }),
      // Sampling and teacher forcing compute the same in two ways; the largest differences seen are 3e-5.
      "check/reference_gap": gap < 1e-4 ? 0 : gap,
      "check/sampling_gap": samplingGap(episodes),
    },
  };
}

/** Mean log-prob under the sampling distribution minus that under the policy. */
function samplingGap(episodes: readonly Episode[]): number {
  let [total, tokens] = [0, 0];
  for (const { sampled_logprobs, logprobs } of episodes.flatMap((one) => one.generations)) {
    tokens += logprobs?.length ?? 0;
    for (const [t, sampled] of (sampled_logprobs ?? []).entries()) {
      total += sampled - (logprobs?.[t] ?? 0);
    }
  }
  return total / tokens;
}

/** Of all rewards, and of the groups. */
export function rewardMetrics(groups: readonly (readonly number[])[]): Record<string, number> {
  const rewards = groups.flat();
  return {
    "reward/mean": mean(rewards),
    "reward/std": deviation(rewards, "sample"),
    "reward/min": Math.min(...rewards),
    "reward/max": Math.max(...rewards),
    "reward/zero_std_groups": mean(groups.map((group) => Number(allEqual(group)))),
  };
}

/** The environment's own rewards, where a judge gives those that are learned from. */
export function independentReward(rewards: readonly number[]): Record<string, number> {
  return rewards.length === 0 ? {} : { independent_reward: mean(rewards) };
}

/** Of each part of a scored prompt's reward, where there are several. */
export function partMetrics(episodes: readonly Episode[]): Record<string, number> {
  const parts = Object.keys(episodes[0]?.metrics ?? {}).filter((name) => name !== "cost");
  return Object.fromEntries(
    parts.map((name) => [name, mean(episodes.map(({ metrics }) => metrics[name] ?? 0))]),
  );
}

export function costOf(episodes: readonly Episode[], { limit }: CostLimit, price: number) {
  const found = mean(episodes.map(({ metrics }) => metrics.cost ?? 0));
  return {
    mean: found,
    metrics: { "cost/mean": found, "cost/limit": limit, "cost/lambda": price },
  };
}

/** Of single completions: one with every turn of an episode. */
export function lengthMetrics(episodes: readonly Episode[], most: number) {
  const completions = episodes.flatMap(({ generations }) => generations);
  const lengths = completions.map(({ completion_tokens }) => completion_tokens);
  const texts = episodes.map(completionOf);
  const cut = completions.map((one) => one.finish === "length" && one.completion_tokens >= most);
  return {
    "length/mean": mean(lengths),
    // A long game has more turns than a call may have arguments.
    "length/min": lengths.reduce((least, length) => Math.min(least, length)),
    "length/max": lengths.reduce((largest, length) => Math.max(largest, length)),
    "length/truncated": mean(cut.map(Number)),
    repeated: Math.max(...Object.values(countOf(texts))) / episodes.length,
    repetition: mean(episodes.flatMap(({ rows }) => rows).map(repetitionOf)),
  };
}

export function countOf(codes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
