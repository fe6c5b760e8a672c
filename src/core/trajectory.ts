/**
 * What happened in one episode: everything that was said, the policy's tokens exactly as they were
 * sampled, and the rewards. Texts are never tokenised again: a policy learns from these tokens.
 */

import type { JsonObject } from "./json.ts";
import type { Coordinate } from "./rng.ts";
import type { TokenRow } from "./token-row.ts";

/** A call of a tool, as chat models make it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

/** How a turn of the policy was sampled. */
export interface SampledTurn {
  /** Null where an endpoint tells none. */
  readonly token_ids: readonly number[] | null;
  /** Of each token under the policy itself. */
  readonly logprobs: readonly number[] | null;
  /** Under the sampling distribution, where temperature or truncation change it. */
  readonly sampled_logprobs?: readonly number[] | undefined;
  readonly finish: string;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
}

export type TrajectoryMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "tool"; readonly content: string; readonly tool_call_id?: string | undefined }
  | {
      readonly role: "assistant";
      readonly content: string;
      readonly tool_calls?: readonly ToolCall[] | undefined;
      readonly sampled: SampledTurn;
      /** Of this turn; null when it could not be computed. */
      readonly reward: number | null;
    };

export interface Trajectory {
  /** Of the task. */
  readonly id: string;
  /** Which of the task's episodes this is. */
  readonly sample: number;
  /** Where its randomness lies: `rngAt(...address)`. */
  readonly address: readonly Coordinate[];
  readonly messages: readonly TrajectoryMessage[];
  /**
   * What the policy read and wrote as tokens: one row, or one for each turn where it reads only the
   * last observation. They share the episode's reward. Null where tokens are not known.
   */
  readonly segments: readonly TokenRow[] | null;
  /** The sum over the turns; null when one could not be computed, which is never 0. */
  readonly reward: number | null;
  /** Outcome code. */
  readonly code: string;
  /** True when the task came to its end; false when it was cut short. */
  readonly terminated: boolean;
  readonly metrics: Readonly<Record<string, number>>;
  readonly metadata: JsonObject;
  readonly logs: readonly string[];
}

/** Why an episode has no trajectory: counted, and never a zero. */
export interface RolloutFailure {
  readonly id: string;
  readonly sample: number;
  readonly type: string;
  readonly message: string;
}

/** All episodes of one task. */
export interface TrajectoryGroup {
  readonly id: string;
  readonly trajectories: readonly Trajectory[];
  readonly failures: readonly RolloutFailure[];
}
