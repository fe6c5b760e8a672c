/**
 * Several runs against one baseline, as a table. It decides nothing: other prompts and settings, which
 * the gate refuses to promote by, are named as what changed. The examples and the scorer must be the
 * same, and the rows must be what their commands wrote.
 */

import path from "node:path";
import { usageError } from "../core/errors.ts";
import type { Reason } from "../runs/gate-report.ts";
import { openRun, type Run } from "../runs/reader.ts";
import { holmAdjusted } from "../stats/holm.ts";
import { changesOf, SHOWN_IN_TABLES } from "./changes.ts";
import { compareManifests } from "./comparability.ts";
import { type Evidence, gatherEvidence } from "./evidence.ts";
import { withoutFollowOn } from "./follow-on.ts";
import { type Measured, measure, UNMEASURED } from "./measured.ts";
import { clustersOf } from "./repeated-prompts.ts";
import { rewardRange, rewardScale } from "./reward-range.ts";

export interface ComparedRun extends Pick<Measured, "delta" | "ci" | "p_value" | "test"> {
  readonly run: string;
  readonly pass_rate: number | null;
  readonly mean_reward: number | null;
  readonly n_scored: number;
  /** What differs from the baseline: policy, prompt, sampling, seed, selection; or nothing. */
  readonly changed: readonly string[];
  /** Why there is no comparison; empty where there is one. */
  readonly refused: readonly Pick<Reason, "code" | "message">[];
  /** Corrected for the number of comparisons. */
  readonly p_holm: number | null;
  /** How many independent examples the figures rest on. */
  readonly effective_examples: number;
}

export interface Comparison {
  readonly baseline: Evidence["baseline"];
  readonly metric: Measured["metric"];
  readonly alpha: number;
  /** The number that p-values are corrected for; runs that were refused do not count. */
  readonly comparisons: number;
  readonly runs: readonly ComparedRun[];
}

export interface CompareOptions {
  readonly baseline: string;
  readonly runs: readonly string[];
  /** Intervals have the confidence 1 - alpha; 0.05 by default. */
  readonly alpha?: number | undefined;
}

/**
 * Compares each run with the baseline, paired by example.
 * @example
 * ```ts
 * import { compareRuns } from "lockedroom/gate";
 * const { runs } = await compareRuns({ baseline: "runs/baseline", runs: ["runs/candidate"] });
 * for (const { run, delta, p_holm } of runs) console.log(run, delta, p_holm);
 * ```
 */
export async function compareRuns(options: CompareOptions): Promise<Comparison> {
  const { alpha = 0.05 } = options;
  if (!(alpha > 0 && alpha < 1)) throw usageError("--alpha must lie between 0 and 1");
  const runs = othersOf(options);
  if (runs.length === 0)
    throw usageError("there is nothing to compare", "Name at least one run besides --baseline.");
  const baseline = await openRun(options.baseline);
  const found: Found[] = [];
  for (const dir of runs) found.push(await compareOne(baseline, await openRun(dir), alpha));
  const tested = found.filter(({ measured }) => measured.p_value !== null);
  const adjusted = holmAdjusted(tested.map(({ measured }) => measured.p_value as number));
  const holm = new Map(tested.map((one, i) => [one, adjusted[i] as number]));
  const graded = found.some(({ measured }) => measured.metric === "mean reward");
  return {
    baseline: (found[0] as Found).evidence.baseline,
    metric: graded ? "mean reward" : "pass rate",
    alpha,
    comparisons: tested.length,
    runs: found.map((one) => {
      const { delta, ci, p_value, test } = one.measured;
      return {
        ...one.evidence.candidate,
        ...{ changed: one.changed, refused: one.refused, delta, ci, p_value, test },
        p_holm: holm.get(one) ?? null,
        effective_examples: one.effective,
      };
    }),
  };
}

/** The runs without the baseline, which is no comparison, and each folder once. */
function othersOf({ baseline, runs }: CompareOptions): string[] {
  const folders = [baseline, ...runs].map((run) => path.resolve(run));
  return runs.filter((_, i) => !folders.slice(0, i + 1).includes(folders[i + 1] as string));
}

interface Found extends Pick<ComparedRun, "changed" | "refused"> {
  readonly evidence: Evidence;
  readonly measured: Measured;
  readonly effective: number;
}

async function compareOne(baseline: Run, candidate: Run, alpha: number): Promise<Found> {
  const { violations, knobs } = compareManifests(baseline.manifest, candidate.manifest);
  const evidence = await gatherEvidence(baseline, candidate);
  const reasons = [...violations, ...withoutFollowOn(evidence.violations, violations)];
  const refused = reasons
    .filter(({ code }) => !SHOWN_IN_TABLES.has(code))
    .map(({ code, message }) => ({ code, message }));
  const changed = changesOf(knobs, reasons, SHOWN_IN_TABLES);
  const { pairs } = evidence.differences;
  if (refused.length > 0)
    return { changed, refused, evidence, measured: UNMEASURED, effective: pairs };
  const range = rewardRange([baseline.manifest, candidate.manifest], undefined);
  const scale = rewardScale(evidence.binary, range);
  const clusters = (await clustersOf(baseline, candidate, evidence.repeated))?.whole;
  return {
    ...{ changed, refused, evidence, effective: clusters?.effective ?? pairs },
    measured: measure({ ...evidence, ...scale, clusters }, alpha),
  };
}
