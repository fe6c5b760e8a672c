/**
 * Level 3: choosing with a KL penalty. Six candidates, each with a reward and its KL from the
 * reference; the choice maximises reward - beta * kl.
 *
 *   ./lockedroom run assignments/kl_regularized_choice.ts > runs/l3_build_kl_choice.txt
 */

import { isProgram } from "lockedroom/extensions";

export interface Candidate {
  readonly name: string;
  readonly reward: number;
  readonly kl: number;
}

/** The KL coefficients that are printed. */
export const BETAS = [0.1, 1.0];

/** Fill in six: from a small reward with a small KL to a large reward with a large KL. */
export const CANDIDATES: readonly Candidate[] = [];

/** The candidate with the largest reward - beta * kl; of equal ones the one with the smaller kl. */
export function choose(candidates: readonly Candidate[], beta: number): Candidate {
  void [candidates, beta];
  throw new Error("choose is not written yet; see level 3");
}

// Runs only when this file is the program, not when a test imports it.
if (isProgram(import.meta.url)) {
  for (const beta of BETAS) {
    const { name, reward, kl } = choose(CANDIDATES, beta);
    console.log(`beta=${beta} choice=${name} reward=${reward} kl=${kl}`);
  }
}
