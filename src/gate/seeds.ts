/** Seeds are part of sampling: with enough of them any policy has a lucky one. */

import { canonicalJson } from "../core/json.ts";
import { isCheckpoint } from "../core/policy.ts";
import { embeddedFingerprint } from "../runs/embedded-fingerprint.ts";
import type { GateReport, Reason } from "../runs/gate-report.ts";
import type { Manifest } from "../runs/schemas.ts";

/** Two policies are sampled with one seed, unless nothing about them is random. */
export function seedsDiffer(baseline: Manifest, candidate: Manifest): Reason[] {
  const [before = null, after = null] = [baseline.sampling?.seed, candidate.sampling?.seed];
  if (
    canonicalJson(before) === canonicalJson(after) ||
    !(isSampled(baseline) || isSampled(candidate))
  )
    return [];
  return [
    {
      code: "seeds_differ",
      message:
        "The completions were sampled with different seeds, which may have been chosen by their results. Sample both policies with the same seed; to see how much a seed changes, repeat the comparison with several seeds, each on both sides.",
      baseline: before,
      candidate: after,
    } as Reason,
  ];
}

/** The same policy with another seed: a difference says nothing about the policy. */
export function onlySeedChanged({ baseline, candidate }: Reason): Reason {
  const named = [baseline, candidate].map((seed) => (seed === null ? "not stated" : String(seed)));
  return {
    code: "only_seed_changed",
    message: `Only the seed changed (${named.join(", ")}), so any difference is sampling noise, and there is nothing to promote. To compare two policies, sample both with the same seed. To see how much a seed changes, repeat the comparison with several seeds, each on both sides.`,
    ...{ baseline, candidate },
  };
}

/**
 * Greedy decoding has no randomness; where the temperature is not stated there may be some. In an
 * environment the seed also chooses the games, however actions are decoded.
 */
function isSampled({ sampling, environment }: Manifest): boolean {
  return sampling !== null && (environment !== undefined || sampling.temperature !== 0);
}

/**
 * Bonferroni: the best of k seeds is significant at alpha / k. The larger number of both sides
 * counts, because a seed may also be chosen by the baseline's results.
 */
export function correctedLevel(
  baseline: Manifest,
  candidate: Manifest,
  alpha: number,
): GateReport["seeds_tried"] {
  const triesOf = (manifest: Manifest) =>
    isSampled(manifest) ? (manifest.seeds_tried ?? null) : null;
  const [before, after] = [triesOf(baseline), triesOf(candidate)];
  const tries = Math.max(before ?? 1, after ?? 1);
  if (tries === 1) return undefined;
  return { baseline: before, candidate: after, level: alpha / tries };
}

/** Nobody counted the tries of a checkpoint that could have listed them. */
export function triesNotes(baseline: Manifest, candidate: Manifest): string[] {
  const uncounted = Object.entries({ baseline, candidate })
    .filter(([, manifest]) => isSampled(manifest) && triesUnknown(manifest))
    .map(([name]) => name);
  if (uncounted.length === 0) return [];
  return [
    `How many seeds were tried is unknown for the ${uncounted.join(" and the ")}: the folder of the checkpoint could not list its rollouts.`,
  ];
}

/** The embedded policy lies in the installed package, where nothing is written. */
function triesUnknown({ policy, seeds_tried }: Manifest): boolean {
  if (!isCheckpoint(policy) || policy?.fingerprint === embeddedFingerprint()) return false;
  return (seeds_tried ?? null) === null;
}
