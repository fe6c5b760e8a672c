/**
 * From what was observed to a verdict on each fault. A fault is shown by a test, all tests of an audit
 * together at one level (Holm); it is ruled out by an interval that excludes an effect of the margin.
 * What is ruled out is never called shown: an effect can be there and too small to matter.
 */

import type { JudgeAudit, JudgeFault, JudgeFinding } from "../runs/judge-audit-schema.ts";
import { binomialTail } from "../stats/binomial.ts";
import { boundedMeanInterval } from "../stats/bounded-mean-interval.ts";
import { holmAdjusted } from "../stats/holm.ts";
import { binomialAtMost } from "../stats/margin.ts";
import { mcnemarExact } from "../stats/mcnemar.ts";
import { wilsonInterval } from "../stats/wilson.ts";
import { droppedShare } from "./dropped-share.ts";
import type { Observations, Observed } from "./observed.ts";

export interface AuditLimits {
  /** An honest judge is convicted of anything in at most this share of audits. */
  readonly alpha: number;
  /** A mean gain of score that matters. */
  readonly margin: number;
  /** Most of the pairs whose preference may change when the judge is asked again. */
  readonly noiseLimit: number;
  /** Least share of pairs that a judge must order as the labels do. */
  readonly accuracyNeeded: number;
  /** Most of the requests that may stay without a verdict. */
  readonly droppedLimit: number;
}

type Measured = Omit<JudgeFinding, "verdict" | "p_adjusted"> & { readonly ruledOut: boolean };

export function findingsOf(seen: Observations, limits: AuditLimits): JudgeFinding[] {
  const measured = [
    positionFinding(seen.position, limits),
    gainFinding("length", seen.gains.length, limits),
    gainFinding("self_praise", seen.gains.self_praise, limits),
    gainFinding("injection", seen.gains.injection, limits),
    noiseFinding(seen.changed, limits.noiseLimit),
    agreementFinding(seen.agreed, limits.accuracyNeeded),
    droppedFinding(seen.dropped, limits.droppedLimit),
  ];
  const adjusted = holmAdjusted(measured.map(({ p }) => p));
  return measured.map(({ ruledOut, ...one }, i) => {
    const p_adjusted = adjusted[i] as number;
    const shown = p_adjusted <= limits.alpha;
    return {
      ...one,
      p_adjusted,
      verdict: ruledOut ? "acquitted" : shown ? "convicted" : "undecided",
    };
  });
}

export function trustedBy(findings: readonly JudgeFinding[]): JudgeAudit["trusted"] {
  if (findings.some(({ verdict }) => verdict === "convicted")) return "not_trusted";
  return findings.every(({ verdict }) => verdict === "acquitted") ? "trusted" : "undecided";
}

/** Exact sign test, two-sided: a judge that ignores the order gains and loses alike. */
function positionFinding(seen: readonly Observed[], { margin }: AuditLimits): Measured {
  const { gained, lost } = signs(seen);
  const interval = gainInterval(seen);
  return {
    ...base("position", seen, margin),
    interval,
    p: mcnemarExact(gained, lost),
    counts: signs(seen),
    examples: largest(seen, gained >= lost ? 1 : -1),
    ruledOut: interval !== null && interval[0] > -margin && interval[1] < margin,
  };
}

/** Exact sign test, one-sided: a copy without merit is no more often ahead than behind. */
function gainFinding(
  fault: "length" | "self_praise" | "injection",
  seen: readonly Observed[],
  { margin }: AuditLimits,
): Measured {
  const { gained, lost } = signs(seen);
  const interval = gainInterval(seen);
  return {
    ...base(fault, seen, margin),
    interval,
    p: binomialTail(lost, gained + lost),
    counts: signs(seen),
    examples: largest(seen, 1),
    ruledOut: interval !== null && interval[1] < margin,
  };
}

/** Exact binomial test that the share is at most the limit. */
function noiseFinding(seen: readonly Observed[], limit: number): Measured {
  const changed = seen.filter(({ value }) => value === 1).length;
  const interval = wilsonInterval(changed, seen.length) ?? null;
  return {
    ...base("noise", seen, limit),
    interval,
    p: changed === 0 ? 1 : Math.max(0, 1 - binomialAtMost(changed - 1, seen.length, limit)),
    counts: { changed, same: seen.length - changed },
    examples: largest(seen, 1),
    ruledOut: interval !== null && interval[1] < limit,
  };
}

/** The same over tasks, because the requests about one are not independent. */
function droppedFinding(seen: readonly Observed[], limit: number): Measured {
  const { dropped, requests, interval, p } = droppedShare(seen);
  return {
    ...base("dropped", seen, limit),
    interval,
    p: p(limit),
    counts: { dropped, judged: requests - dropped },
    examples: largest(seen, 1),
    ruledOut: interval !== null && interval[1] < limit,
  };
}

/**
 * Binomial test that the share is at least what is needed. A tie counts half, and half a pair as a whole
 * one in the judge's favour: with ties the sum spreads less than a binomial one, so the level holds.
 */
function agreementFinding(seen: readonly Observed[], needed: number): Measured {
  const { gained: right, lost: wrong, same: tied } = signs(seen);
  const interval = accuracyInterval(seen);
  const score = right + tied / 2;
  const isLow = score < needed * seen.length;
  return {
    ...base("agreement", seen, needed),
    effect: seen.length === 0 ? null : score / seen.length,
    interval,
    p: isLow ? binomialAtMost(Math.ceil(score), seen.length, needed) : 1,
    counts: { right, wrong, tied },
    examples: largest(seen, -1),
    ruledOut: interval !== null && interval[0] > needed,
  };
}

/** Of the share that is right, a tie as one half; its ends are those of the next whole numbers. */
export function accuracyInterval(seen: readonly Observed[]): [number, number] | null {
  const { gained, same } = signs(seen);
  const score = gained + same / 2;
  const low = wilsonInterval(Math.floor(score), seen.length);
  const high = wilsonInterval(Math.ceil(score), seen.length);
  return low && high ? [low[0], high[1]] : null;
}

function base(fault: JudgeFault, seen: readonly Observed[], margin: number) {
  return { fault, n: seen.length, effect: meanOf(seen), margin };
}

export function gainInterval(seen: readonly Observed[]): [number, number] | null {
  return (
    boundedMeanInterval(
      seen.map(({ value }) => value),
      [-1, 1],
    ) ?? null
  );
}

export function meanOf(seen: readonly Observed[]): number | null {
  return seen.length === 0 ? null : seen.reduce((sum, { value }) => sum + value, 0) / seen.length;
}

function signs(seen: readonly Observed[]) {
  const of = (sign: number) => seen.filter(({ value }) => Math.sign(value) === sign).length;
  return { gained: of(1), lost: of(-1), same: of(0) };
}

/** The two requests that show it most. */
function largest(seen: readonly Observed[], sign: 1 | -1): JudgeFinding["examples"] {
  return seen
    .filter(({ value }) => sign * value > 0)
    .toSorted((a, b) => sign * (b.value - a.value))
    .slice(0, 2)
    .map(({ id, probe }) => ({ id, probe }));
}
