/** Evaluations of a run on the validation set: start, best, end, and a paired test against the start. */

import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import type { EvaluationRecord } from "../../runs/train-records.ts";
import {
  type BootstrapInterval,
  DifferenceCounts,
  mcnemarExact,
  pairedBootstrap,
  wilsonInterval,
} from "../../stats/index.ts";

export interface Milestones {
  readonly start: EvaluationRecord;
  /** The highest pass rate; the first one in a tie. */
  readonly best: EvaluationRecord;
  readonly end: EvaluationRecord;
  /** Of the kept policy, where it is not the last one. */
  readonly kept: EvaluationRecord | undefined;
}

export function milestonesOf({ evaluations, summary }: TrainingRunRecords): Milestones | undefined {
  const [start, end] = [evaluations[0], evaluations.at(-1)];
  if (start === undefined || end === undefined) return undefined;
  const best = evaluations.reduce((one, other) => (other.pass_rate > one.pass_rate ? other : one));
  const kept = evaluations.find(({ step }) => step === summary?.stop?.kept);
  return { start, best, end, kept: kept === end ? undefined : kept };
}

/** 95 % Wilson interval of the pass rate. */
export function passInterval(evaluation: EvaluationRecord): [number, number] | undefined {
  const { pass_rate, examples } = evaluation;
  return wilsonInterval(Math.round(pass_rate * examples), examples);
}

/** Two evaluations of the same examples, example by example. */
export interface PairedComparison {
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  /** Share of wins, ties counted as halves, with its interval over the pairs. */
  readonly rate: { readonly share: number; readonly interval: [number, number] };
  /** Exact sign test (McNemar's where rewards are 0 or 1). */
  readonly p: number;
  /** Of the mean reward, with a bootstrap interval over the pairs. */
  readonly difference: { readonly mean: number; readonly interval: BootstrapInterval };
}

/** Undefined where they cannot be paired: different examples, or none scored in both. */
export function comparePaired(
  before: EvaluationRecord,
  after: EvaluationRecord,
): PairedComparison | undefined {
  if (before.rewards.length !== after.rewards.length) return undefined;
  const [differences, signs] = [new DifferenceCounts(), new DifferenceCounts()];
  const tally = { wins: 0, ties: 0, losses: 0 };
  before.rewards.forEach((old, i) => {
    const now = after.rewards[i];
    if (old === null || now === null || now === undefined) return;
    differences.add(now - old);
    signs.add(Math.sign(now - old));
    tally[now > old ? "wins" : now < old ? "losses" : "ties"]++;
  });
  const interval = pairedBootstrap(differences, RESAMPLING);
  if (interval === undefined) return undefined;
  const { wins, losses } = tally;
  return {
    ...tally,
    rate: { share: (1 + (signs.mean() ?? 0)) / 2, interval: rateInterval(tally, signs) },
    p: mcnemarExact(wins, losses),
    difference: { mean: differences.mean() ?? 0, interval },
  };
}

const RESAMPLING = { seed: "report", resamples: 2000 };

/** Without ties it is a proportion, and the Wilson interval keeps its width at 0 % and 100 %. */
function rateInterval(
  { wins, ties, losses }: Record<"wins" | "ties" | "losses", number>,
  signs: DifferenceCounts,
): [number, number] {
  const share = ties === 0 ? wilsonInterval(wins, wins + losses) : undefined;
  if (share) return share;
  const { low, high } = pairedBootstrap(signs, RESAMPLING) ?? { low: -1, high: 1 };
  return [(1 + low) / 2, (1 + high) / 2];
}

export interface ComparedWithStart extends PairedComparison {
  readonly step: number;
  /** Whether it is the kept policy, not only the last one evaluated. */
  readonly isKept: boolean;
}

/** The kept policy, or else the last one evaluated, compared with step 0. */
export function comparedWithStart(run: TrainingRunRecords): ComparedWithStart | undefined {
  const { start, end, kept } = milestonesOf(run) ?? {};
  const after = kept ?? end;
  if (start?.step !== 0 || after === undefined || after === start) return undefined;
  const result = comparePaired(start, after);
  return result && { ...result, step: after.step, isKept: kept !== undefined };
}
