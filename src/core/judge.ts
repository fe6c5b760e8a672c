/** A judge compares the attempts at one task and gives each a score from 0 to 1, relative to the others. */

import type { Message, Tool } from "./environment.ts";
import type { SamplingSettings } from "./policy.ts";
import type { ToolCall } from "./trajectory.ts";

/** What a judge sees of a message: neither tokens nor rewards. */
export interface JudgedMessage extends Message {
  readonly tool_calls?: readonly Pick<ToolCall, "name" | "arguments">[] | undefined;
}

/** The attempts that one request compares. @see {@link openJudge} */
export interface GroupToJudge {
  /** Of the task; messages to people name it. */
  readonly id: string;
  readonly attempts: readonly (readonly JudgedMessage[])[];
  /** Those that were offered to the policy. */
  readonly tools: readonly Tool[];
  /** Which judging of this group it is, 0 unless set: another one has another seed. */
  readonly repeat?: number | undefined;
}

export interface Judgement {
  readonly score: number;
  readonly explanation: string;
}

/** Of the judge's answers, whether they came from the endpoint or from the cache. */
export interface JudgeTokens {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

export interface JudgedGroup {
  readonly id: string;
  /** One for each attempt, in their order. */
  readonly judgements: readonly Judgement[];
  /** All attempts are the same, so that one was judged for all: such a group teaches nothing. */
  readonly identical: boolean;
  /** What the judge wrote, from which its scores can be read again; of identical attempts, about one. */
  readonly answer?: string | undefined;
  readonly tokens: JudgeTokens;
}

export const DROP_REASONS = ["no_answer", "refused", "invalid_verdict"] as const;

/** The share of dropped groups above which a run stops, unless set. */
export const DROPPED_LIMIT = 0.1;

/** How a judge is asked, unless set. */
export const JUDGE_DEFAULTS = {
  sampling: { temperature: 0, top_k: 0, top_p: 1, max_tokens: 4096, seed: 0 },
  /** Requests at once. */
  concurrency: 16,
  /** For one answer. */
  timeoutMs: 120_000,
} as const;

/** A group without a verdict: it is counted, and never scored 0. */
export interface DroppedGroup {
  readonly id: string;
  readonly dropped: {
    readonly type: (typeof DROP_REASONS)[number];
    readonly message: string;
  };
  readonly tokens: JudgeTokens;
}

/** What came of a group: a score for each attempt, or why there is none. @see {@link openJudge} */
export type GroupVerdict = JudgedGroup | DroppedGroup;

/** The judge as a measuring instrument: whatever changes its scores is in its fingerprint. */
export interface JudgeIdentity {
  readonly kind: "judge";
  /** The model. */
  readonly name: string;
  /** Of the words around the rubric. */
  readonly version: string;
  readonly endpoint: string;
  readonly rubric: string;
  readonly rubric_sha256: string;
  readonly sampling: Omit<SamplingSettings, "stop">;
  /** Of everything above. */
  readonly fingerprint: string;
}

/** How a run came by its verdicts; it differs between a run and its repetition from the cache. */
export interface JudgeTraffic {
  readonly requests: number;
  readonly from_cache: number;
}

/** A judge that is open. @see {@link openJudge} */
export interface GroupJudge {
  readonly identity: JudgeIdentity;
  /** Verdicts in the order of the groups; several requests are under way at once. */
  judge(
    groups: Iterable<GroupToJudge> | AsyncIterable<GroupToJudge>,
  ): AsyncGenerator<GroupVerdict, void, void>;
  readonly traffic: JudgeTraffic;
  close(): Promise<void>;
}

export function isDropped(verdict: GroupVerdict): verdict is DroppedGroup {
  return "dropped" in verdict;
}
