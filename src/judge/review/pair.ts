/** Two answers to one task, and the order in which a person is shown them. */

import { sha256 } from "../../core/fingerprint.ts";
import { canonicalJson } from "../../core/json.ts";
import { rngAt, shuffled } from "../../core/rng.ts";
import type { ReviewLabel } from "../../runs/review-schemas.ts";

export type Side = ReviewLabel["shown_first"];
export type Choice = NonNullable<ReviewLabel["better"]>;

/** `a` is the baseline's answer, `b` the candidate's. */
export interface ReviewPair {
  readonly id: string;
  readonly prompt: string;
  readonly a: string;
  readonly b: string;
}

export interface ShownPair extends ReviewPair {
  readonly shownFirst: Side;
}

/** Other than the source's order, so that the first labels are a random part of all pairs. */
export function shownOrder(pairs: readonly ReviewPair[], seed: number): ShownPair[] {
  return shuffled(pairs, rngAt(seed, "review", "order")).map((pair) => ({
    ...pair,
    shownFirst: rngAt(seed, "review", pair.id).below(2) === 0 ? "a" : "b",
  }));
}

export function answersOf({
  a,
  b,
  shownFirst,
}: ShownPair): readonly [first: string, second: string] {
  return shownFirst === "a" ? [a, b] : [b, a];
}

/** Which answer stands at the place that was chosen. */
export function sideAt(place: 1 | 2, shownFirst: Side): Side {
  return (place === 1) === (shownFirst === "a") ? "a" : "b";
}

/** Whatever order they are given in. */
export function pairsSha256(pairs: readonly ReviewPair[]): string {
  const rows = pairs.map(({ id, prompt, a, b }) => canonicalJson({ id, prompt, a, b }));
  return sha256(rows.sort().join("\n"));
}
