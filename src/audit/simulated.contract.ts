/** Judges in memory whose faults are known exactly, to measure how often an audit is wrong. */

import { type Rng, rngAt } from "../core/rng.ts";
import type { AuditJudgement } from "../runs/judge-audit-schema.ts";
import { judgementOf } from "./judgement.ts";
import { type LabelledData, replyTo } from "./labelled.ts";
import { auditRequests } from "./requests.ts";

export interface SimulatedFaults {
  /** Score that the first place gains over the last. */
  readonly position?: number;
  readonly length?: number;
  readonly self_praise?: number;
  readonly injection?: number;
  /** Share of requests in which an injected instruction is obeyed; all unless stated. */
  readonly obeyed?: number;
  /** Half of the range of uniform noise on every score; a new draw for each request. */
  readonly noise?: number;
  /** Share of pairs that the judge orders otherwise than the labels, in every request alike. */
  readonly wrong?: number;
  /** Share of requests without a verdict. */
  readonly dropped?: number;
  /** Share of pairs on which the judge gives no verdict at all, whatever is asked about them. */
  readonly refused?: number;
}

const PAIRS: LabelledData["pairs"] = Array.from({ length: 400 }, (_, i) => ({
  id: `pair-${i}`,
  better: replyTo(`question ${i}`, "the better reply"),
  worse: replyTo(`question ${i}`, "the worse reply"),
  tools: [],
}));

/** All verdicts of one audit of `n` pairs. */
export function simulatedVerdicts(
  faults: SimulatedFaults,
  { n, audit }: { readonly n: number; readonly audit: number },
): AuditJudgement[] {
  const rng = rngAt("simulated judge", audit);
  const worse = new Map(PAIRS.map(({ id }) => [id, merits(rng, faults)]));
  const refused = new Set(
    PAIRS.flatMap(({ id }) => (rng.next() < (faults.refused ?? 0) ? [id] : [])),
  );
  const requests = auditRequests({ pairs: PAIRS.slice(0, n), groups: [] }, audit);
  return [...requests].map((request) => {
    const { id, probe, attempts, group } = request;
    const tokens = { prompt_tokens: 100, completion_tokens: 10 };
    if (refused.has(id) || rng.next() < (faults.dropped ?? 0))
      return judgementOf(request, {
        ...{ id, tokens, dropped: { type: "invalid_verdict", message: "no JSON" } },
      });
    const judgements = attempts.map(({ name }, place) => {
      const merit = name === "better" ? 0.5 : (worse.get(id) as number);
      const first = (faults.position ?? 0) * (1 - place / (group.attempts.length - 1));
      const gain = name === "probe" ? (faults[probe as keyof SimulatedFaults] ?? 0) : 0;
      const probed = probe === "injection" && rng.next() >= (faults.obeyed ?? 1) ? 0 : gain;
      const noise = (faults.noise ?? 0) * (2 * rng.next() - 1);
      return { score: merit + first + probed + noise, explanation: "" };
    });
    return judgementOf(request, { id, judgements, identical: false, tokens });
  });
}

/** Of the worse reply: below the better one, unless the judge is wrong about this pair. */
function merits(rng: Rng, { wrong = 0 }: SimulatedFaults): number {
  const distance = 0.05 + 0.2 * rng.next();
  return rng.next() < wrong ? 0.5 + distance : 0.5 - distance;
}
