/** What the gate's report adds in words: how to read a selection, and what is noise. */

import type { Change } from "../core/knobs.ts";
import type { ClusterCounts } from "../stats/cluster-counts.ts";
import { FEW_CHANGED, type Measured } from "./measured.ts";

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

/** A bootstrap interval is too narrow when few prompts differ, and nothing else bounds it. */
export function fewChangesNote(
  { p_value: p, ci, range }: Measured,
  clusters: ClusterCounts | undefined,
): string[] {
  if (!clusters || p === null || ci === null) return [];
  if (clusters.clusters - clusters.sums().count(0) >= FEW_CHANGED) return [];
  if (p > 1 - ci.confidence && range !== undefined) return [];
  return [
    "Fewer than 10 prompts changed, so the bootstrap interval is too narrow; the test decides.",
  ];
}

export function noiseNote({ delta }: Measured, n: number): string[] {
  if (delta === null || delta === 0 || n >= NOISE.examples || Math.abs(delta) >= NOISE.delta)
    return [];
  return [
    `Noise rule: on ${Math.round(n)} examples, repeat the experiment before you trust a change under 0.05.`,
  ];
}

/** What the error rate rests on where the range of rewards is unknown. */
export function symmetryNote({ test }: Measured): string[] {
  if (test !== "sign_flip" && test !== "cluster_sign_flip") return [];
  return [
    "The range of the rewards is unknown, so the error rate holds only if each change is as likely up as down: rare large changes can make it higher. Declare `range` in the scorer, or state it with --reward-range.",
  ];
}

interface Rates {
  readonly pass_rate: number | null;
}

/** More reward with fewer solved tasks: what a reward that can be exploited looks like. */
export function solvedNote(
  { delta, metric }: Measured,
  { pass_rate: before }: Rates,
  { pass_rate: after }: Rates,
): string[] {
  if (delta === null || delta <= 0 || metric !== "mean reward") return [];
  if (before === null || after === null || after >= before) return [];
  return [
    `The mean reward rose, but fewer rows pass: ${before.toFixed(4)} → ${after.toFixed(4)}. Read some of them with inspect-run before you rely on the reward.`,
  ];
}
