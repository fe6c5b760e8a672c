/** Puts the requests of an audit to a judge. */

import { verdictsOn } from "../../core/ask-judge.ts";
import { type GroupJudge, type GroupVerdict, isDropped } from "../../core/judge.ts";
import type { AuditJudgement } from "../../runs/judge-audit-schema.ts";
import { type AuditRequest, lastSaid } from "./requests.ts";

/** In the order of the requests, of which no more are held than are under way. */
export async function* askedOf(
  judge: GroupJudge,
  requests: Iterable<AuditRequest>,
): AsyncGenerator<AuditJudgement, void, void> {
  for await (const [request, verdict] of verdictsOn(judge, requests, ({ group }) => group))
    yield judgementOf(request, verdict);
}

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
