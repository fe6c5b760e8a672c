/**
 * What plays episodes: it keeps what it has read and written in each as a context, tokens for weights
 * and messages for an endpoint, and answers several episodes at a time.
 */

import type { Message, Tool } from "./environment.ts";
import type { LockedRoomError } from "./errors.ts";
import type { Policy, SampledCompletion } from "./policy.ts";
import type { Coordinate } from "./rng.ts";
import type { TokenRow } from "./token-row.ts";
import type { ToolCall } from "./trajectory.ts";

/** A turn of the policy; `completion` is the action's text, exactly as the environment gets it. */
export interface Reply extends SampledCompletion {
  /** Absent where they are not known. */
  readonly tokens?: readonly number[] | undefined;
  /** The calls that the text stands for, where the policy made them natively. */
  readonly tool_calls?: readonly ToolCall[] | undefined;
  /** Text beside a native call; the environment does not get it. */
  readonly said?: string | undefined;
  /** What else the log of the episode should say. */
  readonly logs?: readonly string[] | undefined;
}

/** Why one episode got no reply; the other episodes are not affected. */
export interface NoReply {
  readonly type: string;
  readonly error: LockedRoomError;
}

export interface ReplyRequest<C> {
  readonly context: C;
  /** Address of its random numbers. */
  readonly address: readonly Coordinate[];
}

/** `C` is the context of an episode, which no method changes. */
export interface Actor<C = unknown, R extends Reply = Reply> {
  /** Episodes that one call of `answer` takes best. */
  readonly batch: number;
  /** How many calls of `answer` may be under way at once. */
  readonly concurrency: number;
  /** Read before the first observation of an episode. */
  readonly preamble: readonly Message[];
  /** The context of somebody who has read these messages and nothing else. */
  begin(messages: readonly Message[]): C;
  /** With the policy's own turn. */
  wrote(context: C, reply: R): C;
  /** With a later observation. */
  read(context: C, messages: readonly Message[]): C;
  /** Whether there is room for a reply. */
  hasRoom(context: C): boolean;
  /** In the order of the requests. What it throws concerns all episodes. */
  answer(
    requests: readonly ReplyRequest<C>[],
    stop?: AbortSignal,
  ): Promise<readonly (R | NoReply)[]>;
  /** The context as tokens; null where they are not known. */
  row(context: C): TokenRow | null;
}

export function isReply<R extends Reply>(answer: R | NoReply): answer is R {
  return !("error" in answer);
}

/** A policy that can play environments. */
export interface ActingPolicy extends Policy {
  /** `tools` are those that the environment offers. */
  actor(tools: readonly Tool[]): Actor;
}
