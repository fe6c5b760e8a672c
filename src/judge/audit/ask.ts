/** Puts the requests of an audit to a judge. */

import { judgementOf } from "../../audit/judgement.ts";
import type { AuditRequest } from "../../audit/requests.ts";
import type { GroupJudge, GroupToJudge } from "../../core/judge.ts";
import type { AuditJudgement } from "../../runs/judge-audit-schema.ts";

/** In the order of the requests, of which no more are held than are under way. */
export async function* askedOf(
  judge: Pick<GroupJudge, "judge">,
  requests: Iterable<AuditRequest>,
): AsyncGenerator<AuditJudgement, void, void> {
  const underWay: AuditRequest[] = [];
  function* groups(): Generator<GroupToJudge> {
    for (const request of requests) {
      underWay.push(request);
      yield request.group;
    }
  }
  for await (const verdict of judge.judge(groups()))
    yield judgementOf(underWay.shift() as AuditRequest, verdict);
}
