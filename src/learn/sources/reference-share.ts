/**
 * Which rows of a batch the reference is computed on. A KL penalty needs all of them. Without one the
 * KL is only recorded, so a share of the groups is enough. Whole groups are taken, because their
 * completions share the computation of the prompt.
 */

import type { Algorithm } from "../algorithm.ts";
import type { TrainSettings } from "../settings.ts";

type Settings = Pick<TrainSettings, "kl"> & { readonly rollouts: { readonly group: number } };

/** Fewer rows say too little: alarms would have to wait for many steps. */
const LEAST_ROWS = 32;

/** Indices of the groups that are compared with the reference. */
export function referenceGroups(
  count: number,
  algorithm: Pick<Algorithm, "reference">,
  { kl, rollouts }: Settings,
): ReadonlySet<number> {
  const needed = kl.mode !== "none" || algorithm.reference === true;
  const least = Math.min(1, LEAST_ROWS / (rollouts.group * count));
  return new Set(evenlySpaced(count, needed ? 1 : Math.max(kl.diagnostic_share, least)));
}

/** Whether the loss reads the reference's log-probs, in the column `reference`. */
export function referenceColumn(
  algorithm: Pick<Algorithm, "reference">,
  { kl }: Pick<Settings, "kl">,
): boolean {
  return algorithm.reference === true || (kl.mode !== "none" && kl.place === "loss");
}

/**
 * The middles of n equal parts of the batch, n being the rounded share of the groups and at least 1.
 * The order of a batch is drawn at random from the examples, and anew in each pass, so that these
 * places get other examples each time. Dynamic sampling puts groups with equal rewards last, and
 * those are taken in proportion too.
 */
export function evenlySpaced(count: number, share: number): number[] {
  const taken = Math.max(1, Math.round(count * share));
  return Array.from({ length: taken }, (_, i) => Math.floor(((2 * i + 1) * count) / (2 * taken)));
}
