/** Between which values a reward must lie: declared by the scorer, or stated by the caller. */

import type { GateReport, Reason } from "../runs/gate-report.ts";
import type { Manifest } from "../runs/schemas.ts";
import type { Evidence } from "./evidence.ts";

export type RewardRange = NonNullable<GateReport["reward_range"]>;

/** What the scorer declares; where it declares nothing, what the caller states. */
export function rewardRange(
  runs: readonly Manifest[],
  stated: readonly [low: number, high: number] | undefined,
): RewardRange | undefined {
  const declared = runs.map(({ scorer }) => scorer.range);
  if (declared.every((range) => range !== undefined)) {
    const ends = declared.flat();
    return { low: Math.min(...ends), high: Math.max(...ends), source: "scorer" };
  }
  return stated && { low: stated[0], high: stated[1], source: "caller" };
}

/** Rewards beyond the range, so that it is not one. */
export function outOfRange(
  range: RewardRange | undefined,
  { rewards: { lowest, highest } }: Pick<Evidence, "rewards">,
): Reason[] {
  if (!range || (lowest >= range.low && highest <= range.high)) return [];
  const who = range.source === "scorer" ? "the scorer declares" : "--reward-range states";
  const message = `The runs have rewards from ${lowest} to ${highest}, but ${who} ${range.low} to ${range.high}.`;
  return [{ code: "rewards_out_of_range", message, baseline: null, candidate: null }];
}
