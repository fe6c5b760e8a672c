/** A line of an audit: what was asked, and what the judge said of it. */

import { type GroupVerdict, isDropped } from "../core/judge.ts";
import type { AuditJudgement } from "../runs/judge-audit-schema.ts";
import { type AuditRequest, lastSaid } from "./requests.ts";

export function judgementOf(
  { id, probe, wording, attempts, group }: AuditRequest,
  verdict: GroupVerdict,
): AuditJudgement {
  const judgements = isDropped(verdict) ? undefined : verdict.judgements;
  return {
    ...{ id, probe, ...(wording !== undefined && { wording }) },
    prompt: group.attempts[0]?.find(({ role }) => role === "user")?.content ?? "",
    attempts: attempts.map(({ name, worth, messages }, i) => ({
      ...{ name, worth, text: lastSaid(messages) },
      score: judgements?.[i]?.score ?? null,
      explanation: judgements?.[i]?.explanation ?? "",
    })),
    dropped: isDropped(verdict) ? { ...verdict.dropped } : null,
    identical: !isDropped(verdict) && verdict.identical,
    ...verdict.tokens,
  };
}
