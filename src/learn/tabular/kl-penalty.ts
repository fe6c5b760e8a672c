/** The KL penalty: the optimal policy for each coefficient, in closed form and by gradient ascent. */

import type { Reward } from "./reward.ts";
import { entropy, expectation, klDivergence, softmax, type Vector } from "./softmax.ts";

export const KL_PENALTY: Reward = {
  name: "kl_penalty_replies",
  version: "1",
  spec: "Eight replies with fixed rewards and a reference policy; π*(a) ∝ π_ref(a) exp(r(a)/β).",
  module: import.meta.url,
};

export interface KlPoint {
  readonly beta: number;
  readonly policy: number[];
  readonly expected_reward: number;
  readonly kl: number;
  readonly entropy: number;
  /** E[r] − β KL(π ‖ π_ref), what the policy maximises. */
  readonly objective: number;
}

/**
 * argmax of E[r] − β KL(π ‖ π_ref) over a finite set: π*(a) ∝ π_ref(a) exp(r(a) / β). At β = 0 there
 * is no penalty, and all probability goes to the best actions with probability in the reference.
 */
export function klPenaltyOptimum(rewards: Vector, reference: Vector, beta: number): number[] {
  if (beta > 0) return softmax(rewards.map((r, i) => Math.log(reference[i] as number) + r / beta));
  const best = Math.max(...rewards.filter((_, i) => (reference[i] as number) > 0));
  const mass = reference.map((p, i) => (rewards[i] === best ? p : 0));
  const total = mass.reduce((sum, p) => sum + p, 0);
  return mass.map((p) => p / total);
}

export function klPoint(
  rewards: Vector,
  reference: Vector,
  beta: number,
  policy: number[],
): KlPoint {
  const [reward, kl] = [expectation(policy, rewards), klDivergence(policy, reference)];
  return {
    beta,
    policy,
    expected_reward: reward,
    kl,
    entropy: entropy(policy),
    objective: reward - beta * kl,
  };
}

/**
 * The same optimum by gradient ascent on the logits, without the closed form. With
 * f(a) = r(a) − β log(π(a) / π_ref(a)) the slope is ∂J/∂z_a = π(a) (f(a) − E f). The step grows
 * while the objective does and shrinks when it does not.
 */
export function gradientAscent(
  rewards: Vector,
  reference: Vector,
  beta: number,
  steps = 20_000,
): number[] {
  const objective = (z: Vector) => klPoint(rewards, reference, beta, softmax(z)).objective;
  let logits: number[] = reference.map(Math.log);
  let reached = objective(logits);
  let rate = 1;
  for (let step = 0; step < steps && rate > 1e-12; step++) {
    const slope = slopes(rewards, reference, beta, softmax(logits));
    const next = logits.map((logit, i) => logit + rate * (slope[i] as number));
    const value = objective(next);
    if (value >= reached) {
      [logits, reached] = [next, value];
      rate *= 1.5;
    } else rate /= 2;
  }
  return softmax(logits);
}

function slopes(rewards: Vector, reference: Vector, beta: number, policy: Vector): number[] {
  const f = rewards.map((r, i) => {
    const [p, q] = [policy[i] as number, reference[i] as number];
    return p > 0 ? r - beta * Math.log(p / q) : 0;
  });
  const mean = expectation(policy, f);
  return policy.map((p, i) => p * ((f[i] as number) - mean));
}

/** A candidate in the table of level 3. */
export interface Candidate {
  readonly name: string;
  readonly reward: number;
  readonly kl: number;
}

/** The candidate with the highest reward − β · KL; ties go to the smaller KL. */
export function chooseWithKlPenalty(candidates: readonly Candidate[], beta: number): Candidate {
  const value = ({ reward, kl }: Candidate) => reward - beta * kl;
  return candidates.reduce((best, candidate) => {
    const gain = value(candidate) - value(best);
    return gain > 0 || (gain === 0 && candidate.kl < best.kl) ? candidate : best;
  });
}

/** In the order of increasing reward and KL. */
export const CANDIDATES: readonly Candidate[] = [
  { name: "reference", reward: 0.3, kl: 0 },
  { name: "polished", reward: 0.45, kl: 0.1 },
  { name: "improved", reward: 0.6, kl: 0.35 },
  { name: "bold", reward: 0.75, kl: 0.9 },
  { name: "strange", reward: 0.85, kl: 2.2 },
  { name: "hack", reward: 0.95, kl: 6 },
];
