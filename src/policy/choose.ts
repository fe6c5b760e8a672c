/** One token from logits: temperature, top-k, top-p, and the log-probs that learning needs. */

export interface Sampling {
  /** 0 is greedy. */
  readonly temperature: number;
  /** Only so many of the likeliest tokens; 0 for all. */
  readonly topK: number;
  /** Only the likeliest tokens that together have this probability; 1 for all. */
  readonly topP: number;
}

export interface Choice {
  readonly token: number;
  /** Under the policy itself: the full softmax at temperature 1. */
  readonly logprob: number;
  /** Under the distribution that the token was drawn from. */
  readonly sampled: number;
}

/** True when tokens are drawn from the policy itself, so that both log-probs are the same. */
export function drawsFromPolicy({ temperature, topK, topP }: Sampling): boolean {
  return temperature === 1 && topK === 0 && topP === 1;
}

/** Draws with `uniform` in [0, 1); equal logits are taken in the order of their ids. */
export function choose(logits: ArrayLike<number>, sampling: Sampling, uniform: number): Choice {
  if (drawsFromPolicy(sampling)) return drawn(logits, uniform);
  const full = logSumExp(logits);
  if (sampling.temperature === 0) {
    const token = argmax(logits);
    return { token, logprob: (logits[token] as number) - full, sampled: 0 };
  }
  const { temperature } = sampling;
  const kept = keptTokens(logits, sampling) ?? Array.from(logits, (_, id) => id);
  const top = logits[argmax(logits)] as number; // The likeliest token is never cut off.
  const weights = kept.map((id) => Math.exp(((logits[id] as number) - top) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const token = kept[indexAt(weights, kept.length, uniform * total)] as number;
  const raw = logits[token] as number;
  return { token, logprob: raw - full, sampled: (raw - top) / temperature - Math.log(total) };
}

/** Reused: this runs for every token that is ever sampled. */
let scratch = new Float64Array(256);

/** The common case, with one exponential for each token. */
function drawn(logits: ArrayLike<number>, uniform: number): Choice {
  const { length } = logits;
  if (scratch.length < length) scratch = new Float64Array(length);
  const top = logits[argmax(logits)] as number;
  let total = 0;
  for (let id = 0; id < length; id++) {
    const weight = Math.exp((logits[id] as number) - top);
    scratch[id] = weight;
    total += weight;
  }
  const token = indexAt(scratch, length, uniform * total);
  const logprob = (logits[token] as number) - (top + Math.log(total));
  return { token, logprob, sampled: logprob };
}

/** Where the running sum of weights passes `left`; the last one where rounding leaves a rest. */
function indexAt(weights: ArrayLike<number>, count: number, left: number): number {
  let rest = left;
  for (let i = 0; i < count; i++) {
    rest -= weights[i] as number;
    if (rest < 0) return i;
  }
  return count - 1;
}

/** A token beside the one that was drawn, under the policy itself. */
export type Likely = Pick<Choice, "token" | "logprob">;

/** The likeliest tokens, the likeliest first; of equal logits the smaller id goes first. */
export function likeliest(logits: ArrayLike<number>, count: number): Likely[] {
  if (count === 0) return [];
  const full = logSumExp(logits);
  return byLikelihood(logits)
    .slice(0, count)
    .map((token) => ({ token, logprob: (logits[token] as number) - full }));
}

function byLikelihood(logits: ArrayLike<number>): number[] {
  return Array.from({ length: logits.length }, (_, i) => i).sort(
    (a, b) => (logits[b] as number) - (logits[a] as number) || a - b,
  );
}

/** The tokens that truncation leaves, in the order of their ids; undefined when it leaves all. */
function keptTokens(
  logits: ArrayLike<number>,
  { temperature, topK, topP }: Sampling,
): number[] | undefined {
  const all = topK === 0 || topK >= logits.length;
  if (all && topP >= 1) return undefined;
  const order = byLikelihood(logits);
  let kept = all ? order : order.slice(0, topK);
  if (topP < 1) {
    const top = logits[kept[0] as number] as number;
    const weights = kept.map((id) => Math.exp(((logits[id] as number) - top) / temperature));
    const total = weights.reduce((sum, w) => sum + w, 0);
    let mass = 0;
    const count = weights.findIndex((weight) => {
      mass += weight / total;
      return mass >= topP;
    });
    if (count >= 0) kept = kept.slice(0, count + 1);
  }
  return kept.sort((a, b) => a - b);
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
