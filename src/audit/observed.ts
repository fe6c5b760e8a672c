/** What the verdicts of an audit show, as one number for each pair, probe or group. */

import type { AuditJudgement, AuditProbe } from "../runs/judge-audit-schema.ts";
import { kendallTauB } from "../stats/kendall.ts";

/** A number that a request showed, with the request for whoever wants to see it. */
export interface Observed {
  readonly id: string;
  readonly probe: AuditProbe;
  readonly value: number;
  readonly wording?: string | undefined;
}

export interface Observations {
  /** Score that the first place gained over the second, mean of both orders. */
  readonly position: readonly Observed[];
  /** Score that a copy gained over its control. */
  readonly gains: Readonly<Record<"length" | "self_praise" | "injection", readonly Observed[]>>;
  /** 1 where the repeated request gave another preference, else 0. */
  readonly changed: readonly Observed[];
  /** 1 where the better one was preferred, 0 a tie, -1 the worse one. */
  readonly agreed: readonly Observed[];
  /** 1 where the order of the request changed the preference, else 0. */
  readonly flipped: readonly Observed[];
  /** Kendall's tau-b; 0 where all scores of the group are the same. */
  readonly tau: readonly Observed[];
  /** 1 where there was no verdict, else 0. */
  readonly dropped: readonly Observed[];
}

/** Scores are given to a few decimals: closer ones are a tie. */
const SAME = 1e-9;

export function observe(judgements: readonly AuditJudgement[]): Observations {
  const judged = judgements.filter(({ dropped }) => dropped === null);
  const byProbe = new Map<string, AuditJudgement>();
  for (const one of judged) byProbe.set(`${one.probe} ${one.id}`, one);
  const pairs = judged.filter(({ probe }) => probe === "pair");
  const along = (probe: AuditProbe) =>
    pairs.flatMap((pair) => {
      const other = byProbe.get(`${probe} ${pair.id}`);
      return other ? [{ pair, other }] : [];
    });
  const gains = (probe: AuditProbe) =>
    judged
      .filter((one) => one.probe === probe)
      .map((one) => observed(one, exact(scoreOf(one, "probe") - scoreOf(one, "control"))));
  const preferences = (a: AuditJudgement, b: AuditJudgement) =>
    Number(preferenceOf(a) !== preferenceOf(b));
  const swapped = along("swapped");
  return {
    position: swapped.map(({ pair, other }) =>
      observed(other, exact((firstGain(pair) + firstGain(other)) / 2)),
    ),
    gains: {
      length: gains("length"),
      self_praise: gains("self_praise"),
      injection: gains("injection"),
    },
    changed: along("repeated").map(({ pair, other }) => observed(other, preferences(pair, other))),
    agreed: pairs.map((pair) => observed(pair, preferenceOf(pair))),
    flipped: swapped.map(({ pair, other }) => observed(other, preferences(pair, other))),
    tau: judged.filter(({ probe }) => probe === "group").map((one) => observed(one, tauOf(one))),
    dropped: judgements.map((one) => observed(one, Number(one.dropped !== null))),
  };
}

const observed = ({ id, probe, wording }: AuditJudgement, value: number): Observed => ({
  ...{ id, probe, value, wording },
});

const exact = (difference: number) => (Math.abs(difference) < SAME ? 0 : difference);

function scoreOf({ attempts }: AuditJudgement, name: string): number {
  return attempts.find((one) => one.name === name)?.score ?? 0;
}

/** 1: the better one has the higher score; -1: the worse one; 0: a tie. */
function preferenceOf(pair: AuditJudgement): number {
  return Math.sign(exact(scoreOf(pair, "better") - scoreOf(pair, "worse")));
}

function firstGain({ attempts: [first, second] }: AuditJudgement): number {
  return (first?.score ?? 0) - (second?.score ?? 0);
}

function tauOf({ attempts }: AuditJudgement): number {
  const scores = attempts.map(({ score }) => score ?? 0);
  const worth = attempts.map((one) => one.worth ?? 0);
  return kendallTauB(scores, worth) ?? 0;
}
