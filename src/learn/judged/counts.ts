/** What a judge was asked, and what it cost. */

import { type GroupVerdict, isDropped } from "../../core/judge.ts";

export interface JudgeCounts {
  /** That a verdict was asked for. */
  readonly groups: number;
  /** Without a verdict. */
  readonly dropped: number;
  /** Whose episodes are all the same. */
  readonly identical: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Of the dropped ones, by their type. */
  readonly reasons: Readonly<Record<string, number>>;
  /** The first dropped one, in words. */
  readonly example: string | undefined;
}

export function noCounts(): JudgeCounts {
  return {
    ...{ groups: 0, dropped: 0, identical: 0, prompt_tokens: 0, completion_tokens: 0 },
    ...{ reasons: {}, example: undefined },
  };
}

export function withVerdict(counts: JudgeCounts, verdict: GroupVerdict): JudgeCounts {
  const { prompt_tokens, completion_tokens } = verdict.tokens;
  const asked = {
    ...counts,
    groups: counts.groups + 1,
    prompt_tokens: counts.prompt_tokens + prompt_tokens,
    completion_tokens: counts.completion_tokens + completion_tokens,
  };
  if (!isDropped(verdict))
    return { ...asked, identical: counts.identical + Number(verdict.identical) };
  const { type, message } = verdict.dropped;
  return {
    ...asked,
    dropped: counts.dropped + 1,
    reasons: { ...counts.reasons, [type]: (counts.reasons[type] ?? 0) + 1 },
    example: counts.example ?? `${verdict.id}: ${message}`,
  };
}

export function addedUp(one: JudgeCounts, other: JudgeCounts): JudgeCounts {
  const reasons = { ...one.reasons };
  for (const [type, count] of Object.entries(other.reasons))
    reasons[type] = (reasons[type] ?? 0) + count;
  return {
    groups: one.groups + other.groups,
    dropped: one.dropped + other.dropped,
    identical: one.identical + other.identical,
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    reasons,
    example: one.example ?? other.example,
  };
}

/** As metrics.jsonl has them. */
export function judgeMetrics(counts: JudgeCounts): Record<string, number> {
  return {
    "judge/groups": counts.groups,
    "judge/dropped": counts.dropped,
    "judge/identical": counts.identical,
    "judge/prompt_tokens": counts.prompt_tokens,
    "judge/completion_tokens": counts.completion_tokens,
  };
}
