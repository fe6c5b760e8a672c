/** The findings of an audit from its verdicts. Pure: the same verdicts give the same audit. */

import { DROP_REASONS, type JudgeIdentity } from "../core/judge.ts";
import { JUDGE_AUDIT_SCHEMA } from "../runs/artifacts.ts";
import type { AuditEstimate, AuditJudgement, JudgeAudit } from "../runs/judge-audit-schema.ts";
import { wilsonInterval } from "../stats/wilson.ts";
import { droppedShare } from "./dropped-share.ts";
import {
  type AuditLimits,
  accuracyInterval,
  findingsOf,
  gainInterval,
  meanOf,
  trustedBy,
} from "./findings.ts";
import { type GateQuestion, gatePart } from "./gate-power.ts";
import { type Observations, type Observed, observe } from "./observed.ts";

export interface AuditQuestion extends AuditLimits, Pick<GateQuestion, "tasks" | "difference"> {}

export const AUDIT_DEFAULTS = {
  alpha: 0.05,
  margin: 0.05,
  noiseLimit: 0.1,
  /** The gate then needs four times as many tasks as with a judge that is always right. */
  accuracyNeeded: 0.75,
  droppedLimit: 0.1,
  difference: 0.1,
} as const;

export function auditOf(
  judge: JudgeIdentity,
  judgements: readonly AuditJudgement[],
  question: AuditQuestion,
): JudgeAudit {
  const seen = observe(judgements);
  const findings = findingsOf(seen, question);
  const measures = measuresOf(seen);
  const tokens = (name: "prompt_tokens" | "completion_tokens") =>
    judgements.reduce((sum, one) => sum + one[name], 0);
  const dropped = (type: string) => judgements.filter((one) => one.dropped?.type === type).length;
  return {
    schema: JUDGE_AUDIT_SCHEMA,
    judge,
    trusted: trustedBy(findings),
    alpha: question.alpha,
    findings,
    measures,
    dropped: Object.fromEntries(
      DROP_REASONS.map((type) => [type, dropped(type)]),
    ) as JudgeAudit["dropped"],
    gate: gatePart(measures.accuracy, question),
    tokens: {
      prompt_tokens: tokens("prompt_tokens"),
      completion_tokens: tokens("completion_tokens"),
    },
  };
}

function measuresOf(seen: Observations): JudgeAudit["measures"] {
  const { agreed } = seen;
  const accuracy = meanOf(agreed);
  return {
    accuracy: {
      value: accuracy === null ? null : (1 + accuracy) / 2,
      interval: accuracyInterval(agreed),
      n: agreed.length,
    },
    ties: share(agreed.map((one) => Number(one.value === 0))),
    order_flips: share(seen.flipped.map(({ value }) => value)),
    self_agreement: share(seen.changed.map(({ value }) => 1 - value)),
    kendall_tau: mean(seen.tau),
    injection_wordings: byWording(seen.gains.injection),
    dropped: { ...mean(seen.dropped), interval: droppedShare(seen.dropped).interval },
  };
}

function share(values: readonly number[]): AuditEstimate {
  const count = values.filter((value) => value === 1).length;
  return {
    value: values.length === 0 ? null : count / values.length,
    interval: wilsonInterval(count, values.length) ?? null,
    n: values.length,
  };
}

function mean(seen: readonly Observed[]): AuditEstimate {
  return { value: meanOf(seen), interval: gainInterval(seen), n: seen.length };
}

function byWording(seen: readonly Observed[]): Record<string, AuditEstimate> {
  const names = [...new Set(seen.map(({ wording }) => wording ?? "other"))].sort();
  return Object.fromEntries(
    names.map((name) => [name, mean(seen.filter(({ wording = "other" }) => wording === name))]),
  );
}
