/** The second step of the gate: how large the difference is, as a whole, in each slice and on each axis. */

import type { GateReport } from "../runs/gate-report.ts";
import { measureAxes } from "./axes.ts";
import type { Collected } from "./collected.ts";
import { sameAnswersOfOne } from "./comparability.ts";
import { type Measured, measure, UNMEASURED } from "./measured.ts";
import { DEFAULT_ALPHA, type GateOptions } from "./options.ts";
import { type Clusters, clustersOf } from "./repeated-prompts.ts";
import { type RewardScale, rewardScale } from "./reward-range.ts";
import { correctedLevel } from "./seeds.ts";
import { measureSlices } from "./slices.ts";

export interface Weighed {
  readonly comparable: boolean;
  readonly scale: RewardScale;
  /** Where several seeds were tried. */
  readonly seeds: GateReport["seeds_tried"];
  /** The significance level, below alpha where several seeds were tried. */
  readonly level: number;
  /** Where prompts repeat. */
  readonly clusters: Clusters["whole"] | undefined;
  readonly measured: Measured;
  /** The answers of both runs are the same. */
  readonly unchanged: boolean;
  readonly slices: GateReport["slices"];
  readonly axes: NonNullable<GateReport["axes"]>["values"];
}

export async function weigh(collected: Collected, options: GateOptions): Promise<Weighed> {
  const { baseline, candidate, comparability, evidence, onAxes, range, violations } = collected;
  const { slice } = options;
  const comparable = violations.length === 0;
  const scale = rewardScale(evidence.binary, range);
  const seeds = correctedLevel(
    ...([baseline.manifest, candidate.manifest, options.alpha ?? DEFAULT_ALPHA] as const),
  );
  const level = seeds?.level ?? options.alpha ?? DEFAULT_ALPHA;
  const unchanged =
    comparability.knobs.length === 0 && sameAnswersOfOne(baseline.manifest, candidate.manifest);
  const known = { comparable, scale, seeds, level, unchanged };
  if (!comparable)
    return { ...known, clusters: undefined, measured: UNMEASURED, slices: undefined, axes: [] };
  const clustered = await clustersOf(baseline, candidate, evidence.repeated, slice, [
    ...onAxes.byName.keys(),
  ]);
  const clusters = clustered?.whole;
  const paired = { ...evidence, ...scale };
  return {
    ...{ ...known, clusters, measured: measure({ ...paired, clusters }, level) },
    slices:
      slice === undefined
        ? undefined
        : measureSlices({
            ...{ field: slice, ...paired, level, clusters: clustered?.bySlice, unchanged },
            margin: options.sliceMargin ?? options.margin,
          }),
    axes: measureAxes({
      ...{ ...options, axes: candidate.manifest.axes ?? [], evidence: onAxes.byName, level },
      clusters: clustered?.byAxis,
    }),
  };
}
