/** Puts the requests of an audit to a judge. */

import { judgementOf } from "../../audit/judgement.ts";
import type { AuditRequest } from "../../audit/requests.ts";
import { verdictsOn } from "../../core/ask-judge.ts";
import type { GroupJudge } from "../../core/judge.ts";
import type { AuditJudgement } from "../../runs/judge-audit-schema.ts";

/** In the order of the requests, of which no more are held than are under way. */
export async function* askedOf(
  judge: GroupJudge,
  requests: Iterable<AuditRequest>,
): AsyncGenerator<AuditJudgement, void, void> {
  for await (const [request, verdict] of verdictsOn(judge, requests, ({ group }) => group))
    yield judgementOf(request, verdict);
}
