/** Between which values a reward must lie: declared by the scorer, or stated by the caller. */

import type { GateReport, Reason } from "../runs/gate-report.ts";
import type { Manifest } from "../runs/schemas.ts";
import type { Evidence } from "./evidence.ts";

export type RewardRange = NonNullable<GateReport["reward_range"]>;

/** What the scorer declares, and what the caller states where that is wider or nothing is declared. */
export function rewardRange(
  runs: readonly Pick<Manifest, "scorer">[],
  stated: readonly [low: number, high: number] | undefined,
): RewardRange | undefined {
  const ranges = runs.map(({ scorer }) => scorer.range);
  const declared = ranges.every((range) => range !== undefined) ? spanOf(ranges.flat()) : undefined;
  if (!stated) return declared && { ...declared, source: "scorer" };
  const both = spanOf([...stated, ...(declared ? [declared.low, declared.high] : [])]);
  const isDeclared = both.low === declared?.low && both.high === declared?.high;
  return { ...both, source: isDeclared ? "scorer" : "caller" };
}

const spanOf = (ends: readonly number[]) => ({ low: Math.min(...ends), high: Math.max(...ends) });

export interface RewardScale {
  /** Pass or fail: every reward is 0 or 1, and nothing says that another is possible. */
  readonly binary: boolean;
  /** The largest possible change; undefined where it is unknown, and of pass or fail. */
  readonly range: number | undefined;
}

/** That all rewards drawn are 0 or 1 does not make them pass or fail where the range says more. */
export function rewardScale(
  allBinary: boolean,
  range: Pick<RewardRange, "low" | "high"> | undefined,
): RewardScale {
  const binary = allBinary && (range === undefined || (range.low >= 0 && range.high <= 1));
  return { binary, range: binary ? undefined : range && range.high - range.low };
}

/** Refuses rewards outside the declared range: of the runs, or of an axis. */
export function outOfRange(
  range: RewardRange | undefined,
  { rewards: { lowest, highest } }: Pick<Evidence, "rewards">,
  axis?: { readonly name: string; readonly code: string },
): Reason[] {
  if (!range || (lowest >= range.low && highest <= range.high)) return [];
  const where = axis === undefined ? "" : ` on the ${axis.name}`;
  const who = range.source === "scorer" ? "the scorer declares" : "--reward-range states";
  const message = `The runs have rewards from ${lowest} to ${highest}${where}, but ${who} ${range.low} to ${range.high}.`;
  const code = axis?.code ?? "rewards_out_of_range";
  return [{ code, message, baseline: null, candidate: null }];
}
