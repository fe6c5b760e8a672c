/** What the gate's report adds in words: how to read a selection, noise, and how many examples to use. */

import type { Change } from "../core/knobs.ts";
import type { Decision } from "../runs/gate-report.ts";
import type { ClusterCounts } from "../stats/cluster-counts.ts";
import { pairsForEffect } from "../stats/power.ts";
import type { Evidence } from "./evidence.ts";
import type { Measured } from "./measured.ts";
import { decidingSize } from "./no-regression.ts";

/** The noise rule of the mastery track: small changes on small data sets need a replication. */
const NOISE = { examples: 1000, delta: 0.05 };

/** The most common mistake: more selection compute reported as a better policy. */
export function selectionNote(knobs: readonly Change[], rule: unknown): string[] {
  if (knobs.length !== 1 || knobs[0] !== "selection") return [];
  const words =
    "Selection changed: outputs were selected differently, the policy's distribution is unchanged.";
  if (rule !== "best" && rule !== "tieBreakKey") return [words];
  return [
    words,
    "Selection used the same scorer as the measurement, so the gain is an upper bound.",
  ];
}

/** The sample size for the measured effect, by the formula that gives the minimum detectable effect. */
export function sizeNote(
  decision: Decision,
  measured: Measured,
  { differences, binary }: Evidence,
  clusters: ClusterCounts | undefined,
  alpha: number,
  margin: number | undefined,
): string[] {
  const { delta } = measured;
  if (decision !== "INCONCLUSIVE" || delta === null) return [];
  const n = clusters?.clusters ?? differences.pairs;
  const variance = (clusters?.influences() ?? differences).variance() ?? 0;
  const spread =
    binary && !clusters ? { discordantShare: 1 - differences.count(0) / n } : { variance };
  const enough =
    margin === undefined
      ? delta !== 0 && pairsForEffect({ effect: Math.abs(delta), alpha, ...spread })
      : decidingSize({ measured, margin, alpha, n, variance, spread });
  if (!enough || enough <= n) return [];
  const units = clusters ? "different prompts" : "examples";
  const assumed =
    binary && !clusters ? "the same share of rows flips" : "rewards vary as much as here";
  const aim = margin === undefined ? "detect this difference" : "decide";
  return [`To ${aim} with 80 % power, use about ${enough} ${units} (if ${assumed}).`];
}

/** A bootstrap interval is too narrow when few rows, or few prompts, differ. */
export function fewChangesNote(
  { binary, flips }: Evidence,
  clusters: ClusterCounts | undefined,
  comparable: boolean,
): string[] {
  if (!comparable) return [];
  if (clusters) {
    if (clusters.clusters - clusters.sums().count(0) >= 10) return [];
    return [
      "Fewer than 10 prompts changed, so the bootstrap interval is too narrow; the sign-flip test decides.",
    ];
  }
  if (!binary || flips.gained + flips.lost >= 10) return [];
  return [
    "Fewer than 10 rows flipped, so the bootstrap interval is too narrow; the exact test decides.",
  ];
}

export function noiseNote({ delta }: Measured, n: number): string[] {
  if (delta === null || delta === 0 || n >= NOISE.examples || Math.abs(delta) >= NOISE.delta)
    return [];
  return [
    `Noise rule: on ${Math.round(n)} examples, repeat the experiment before you trust a change under 0.05.`,
  ];
}
