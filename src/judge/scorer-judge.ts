/**
 * A scorer as a judge, so that it can be audited like one: each attempt is scored alone. A grader that
 * asks a model is as open to length, praise and injected instructions as a judge of groups.
 */

import { fingerprint } from "../core/fingerprint.ts";
import type { GroupJudge, GroupToJudge, GroupVerdict, JudgedMessage } from "../core/judge.ts";
import type { Example } from "../core/records.ts";
import type { GuardedScorer } from "../core/score.ts";

const NOT_SAMPLED = { temperature: 0, top_k: 0, top_p: 1, max_tokens: 1, seed: 0 };
const NO_TOKENS = { prompt_tokens: 0, completion_tokens: 0 };

/** Whoever opened the scorer closes it. */
export function scorerAsJudge(scorer: GuardedScorer): GroupJudge {
  const { name, version, spec, source_sha256 } = scorer.identity;
  const identity = {
    ...{ kind: "judge" as const, name, version, endpoint: "scorer" },
    ...{ rubric: spec, rubric_sha256: source_sha256, sampling: NOT_SAMPLED },
  };
  return {
    identity: { ...identity, fingerprint: fingerprint(identity) },
    traffic: { requests: 0, from_cache: 0 },
    async *judge(groups) {
      for await (const group of groups) yield await verdictOf(scorer, group);
    },
    async close() {},
  };
}

async function verdictOf(
  scorer: GuardedScorer,
  { id, attempts }: GroupToJudge,
): Promise<GroupVerdict> {
  const scores = await scorer.scoreBatch(attempts.map((messages) => requestOf(id, messages)));
  const unusable = scores.find(({ reward }) => reward === null || reward < 0 || reward > 1);
  if (unusable) {
    const { code, reward } = unusable;
    const dropped =
      reward === null
        ? { type: "no_answer" as const, message: `the scorer gave no reward (${code})` }
        : {
            type: "invalid_verdict" as const,
            message: `the reward ${reward} is not from 0 to 1, as a judge's scores are`,
          };
    return { id, dropped, tokens: NO_TOKENS };
  }
  return {
    id,
    judgements: scores.map(({ reward, code }) => ({ score: reward as number, explanation: code })),
    identical: false,
    tokens: NO_TOKENS,
  };
}

/** What was said before the last answer is the prompt. */
function requestOf(id: string, messages: readonly JudgedMessage[]) {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const prompt = messages
    .slice(0, Math.max(0, last))
    .map(({ content }) => content)
    .join("\n");
  const example: Example = { id, prompt };
  return { example, completion: messages[last]?.content ?? "" };
}
