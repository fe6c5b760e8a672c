/** One token from logits: temperature, top-k, top-p, and the log-probs that learning needs. */

import type { SamplingSettings } from "../core/policy.ts";
import type { Scores } from "./decoder-graphs.ts";

export type TokenSampling = Pick<SamplingSettings, "temperature" | "top_k" | "top_p">;

export interface SampledToken {
  readonly token: number;
  /** Under the policy itself: the full softmax at temperature 1. */
  readonly logprob: number;
  /** Under the distribution that the token was sampled from. */
  readonly sampledLogprob: number;
}

/** Whether tokens are sampled from the policy itself, so that both log-probs are the same. */
export function samplesFromPolicy({ temperature, top_k, top_p }: TokenSampling): boolean {
  return temperature === 1 && top_k === 0 && top_p === 1;
}

/** Samples with `uniform` in [0, 1); equal logits are taken in the order of their ids. */
export function sampleToken(
  logits: ArrayLike<number>,
  sampling: TokenSampling,
  uniform: number,
): SampledToken {
  const full = logSumExp(logits);
  if (sampling.temperature === 0) {
    const token = argmax(logits);
    return { token, logprob: (logits[token] as number) - full, sampledLogprob: 0 };
  }
  const { temperature } = sampling;
  const kept = keptTokens(logits, sampling) ?? Array.from(logits, (_, id) => id);
  const top = logits[argmax(logits)] as number; // Truncation always keeps it.
  const weights = kept.map((id) => Math.exp(((logits[id] as number) - top) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const token = kept[indexAt(weights, kept.length, uniform * total)] as number;
  const raw = logits[token] as number;
  const sampledLogprob = (raw - top) / temperature - Math.log(total);
  return { token, logprob: raw - full, sampledLogprob };
}

/**
 * From the probabilities of the policy itself, as the graph gives them: in JavaScript the exponentials
 * would take as long as a tenth of a step.
 */
export function sampleProbability(probabilities: ArrayLike<number>, uniform: number): SampledToken {
  // In single precision they add up to 1 only nearly, and the last ones would be sampled too rarely.
  let total = 0;
  for (let i = 0; i < probabilities.length; i++) total += probabilities[i] as number;
  const token = indexAt(probabilities, probabilities.length, uniform * total);
  const logprob = Math.log(probabilities[token] as number);
  return { token, logprob, sampledLogprob: logprob };
}

/** Where the running sum of weights exceeds `target`; the last that has any if rounding prevents that. */
function indexAt(weights: ArrayLike<number>, count: number, target: number): number {
  let rest = target;
  for (let i = 0; i < count; i++) {
    rest -= weights[i] as number;
    if (rest < 0) return i;
  }
  let last = count - 1;
  while (last > 0 && weights[last] === 0) last--;
  return last;
}

/** A token and its log-prob under the policy itself. */
export type TokenLogprob = Pick<SampledToken, "token" | "logprob">;

/**
 * The likeliest tokens, the likeliest first; of equal scores the smaller id goes first. No probability
 * is reported as 0: the smallest are only rounded to it.
 */
export function topLogprobs(
  scores: ArrayLike<number>,
  count: number,
  kind: Scores = "logits",
): TokenLogprob[] {
  if (count === 0) return [];
  const full = kind === "logits" ? logSumExp(scores) : 0;
  const logprobOf = (score: number) =>
    kind === "logits" ? score - full : Math.log(Math.max(score, LEAST));
  return topIds(scores, downwards(scores), Math.min(count, scores.length))
    .sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b)
    .map((token) => ({ token, logprob: logprobOf(scores[token] as number) }));
}

/** The smallest number of single precision that is not denormal. */
const LEAST = 2 ** -126;

/** The tokens that truncation leaves, in the order of their ids; undefined when it leaves all. */
function keptTokens(
  logits: ArrayLike<number>,
  { temperature, top_k: topK, top_p: topP }: TokenSampling,
): number[] | undefined {
  const all = topK === 0 || topK >= logits.length;
  if (all && topP >= 1) return undefined;
  const down = downwards(logits);
  let count = all ? logits.length : topK;
  if (topP < 1) {
    const top = down[0] as number;
    const weights = down.slice(0, count).map((logit) => Math.exp((logit - top) / temperature));
    const total = weights.reduce((sum, w) => sum + w, 0);
    let mass = 0;
    const last = weights.findIndex((weight) => {
      mass += weight / total;
      return mass >= topP;
    });
    if (last >= 0) count = last + 1;
  }
  return topIds(logits, down, count);
}

/** The logits, largest first: sorting numbers is far faster than sorting ids by their logits. */
function downwards(logits: ArrayLike<number>): Float64Array {
  return Float64Array.from(logits).sort().reverse();
}

/** The ids of the `count` largest logits, in order; of equal logits the smaller id goes first. */
function topIds(logits: ArrayLike<number>, down: Float64Array, count: number): number[] {
  const least = down[count - 1] as number;
  let equal = count - down.indexOf(least);
  const ids: number[] = [];
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id] as number;
    if (logit > least || (logit === least && equal-- > 0)) ids.push(id);
  }
  return ids;
}

export function argmax(logits: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < logits.length; i++) {
    if ((logits[i] as number) > (logits[best] as number)) best = i;
  }
  return best;
}

function logSumExp(logits: ArrayLike<number>): number {
  const top = logits[argmax(logits)] as number;
  let total = 0;
  for (let i = 0; i < logits.length; i++) total += Math.exp((logits[i] as number) - top);
  return top + Math.log(total);
}
