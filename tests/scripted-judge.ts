/** A judge whose scores a function gives, for tests of what is made of verdicts. */

import { fingerprint } from "../src/core/fingerprint.ts";
import type {
  GroupJudge,
  GroupToJudge,
  GroupVerdict,
  JudgedMessage,
  JudgeIdentity,
} from "../src/core/judge.ts";

export interface ScriptedJudgeParts {
  readonly name?: string;
  readonly rubric?: string;
  readonly seed?: number;
  /** By default the share of messages of the policy that say "please". */
  readonly score: (attempt: readonly JudgedMessage[], place: number, id: string) => number;
  /** Groups that it refuses. */
  readonly refuses?: (id: string) => boolean;
}

export interface ScriptedJudge extends GroupJudge {
  /** What it was asked. */
  readonly asked: GroupToJudge[];
}

export function scriptedJudge(parts: ScriptedJudgeParts): ScriptedJudge {
  const asked: GroupToJudge[] = [];
  return {
    asked,
    identity: identityOf(parts),
    traffic: { requests: 0, from_cache: 0 },
    async *judge(groups) {
      for await (const group of groups) {
        asked.push(group);
        yield verdictOn(group, parts);
      }
    },
    close: async () => {},
  };
}

function identityOf({ name = "scripted", rubric = "Be kind.", seed = 0 }: ScriptedJudgeParts) {
  const identity: Omit<JudgeIdentity, "fingerprint"> = {
    ...{ kind: "judge", name, version: "1", endpoint: "test" },
    ...{ rubric, rubric_sha256: fingerprint(rubric) },
    sampling: { temperature: 0, top_k: 0, top_p: 1, max_tokens: 100, seed },
  };
  return { ...identity, fingerprint: fingerprint(identity) };
}

function verdictOn(
  { id, attempts }: GroupToJudge,
  { score, refuses = () => false }: ScriptedJudgeParts,
): GroupVerdict {
  const tokens = { prompt_tokens: 10 * attempts.length, completion_tokens: attempts.length };
  if (refuses(id))
    return { id, dropped: { type: "refused", message: "I would rather not." }, tokens };
  const judgements = attempts.map((attempt, place) => ({
    score: score(attempt, place, id),
    explanation: `attempt ${place + 1}`,
  }));
  const scores = judgements.map(({ score: given, explanation }, place) => ({
    ...{ trajectory_id: String(place + 1), explanation, score: given },
  }));
  return { id, judgements, identical: false, answer: JSON.stringify({ scores }), tokens };
}
