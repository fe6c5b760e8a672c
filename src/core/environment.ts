/**
 * A task that is played over one or more turns: `reset` gives the first observation, `step` takes the
 * policy's action and gives the next. A scored prompt is an environment of one turn.
 */

import type { JsonObject } from "./json.ts";
import type { Example } from "./records.ts";
import type { Rng } from "./rng.ts";

export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
}

/** What the policy wrote in its turn. */
export interface Action {
  readonly text: string;
}

export interface EpisodeEnd {
  /** Outcome code, from a closed set. */
  readonly code: string;
  /** True when the task is over, false when it was cut short. */
  readonly terminated: boolean;
  readonly details: JsonObject;
}

export interface Turn<S> {
  /** Everything that the next step depends on; environments keep nothing themselves. */
  readonly state: S;
  /**
   * Appended to what the policy has read so far. For a policy without a chat template the contents
   * are joined as plain text: roles are not written, and separators such as newlines are the
   * environment's own.
   */
  readonly observation: readonly Message[];
  /**
   * Of this turn alone: an episode's reward is the sum over its turns, that of `reset` included. Null
   * when it could not be computed, which is never the same as 0.
   */
  readonly reward: number | null;
  /** Further numbers of this turn, such as the parts of a reward or a cost; summed like rewards. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** Present on the last turn. */
  readonly end?: EpisodeEnd;
}

/**
 * The sampling setting `max_tokens` limits each turn, not the episode. An episode whose next
 * observation would fill the policy's context ends with the code `context_full` and the rewards so
 * far. Validation plays the same environment, made with the validation scorer.
 */
export interface Environment<S = unknown> {
  /** What the manifest records of it. */
  readonly identity: JsonObject;
  /**
   * Whether each turn shows everything that matters: the policy then reads only the last observation,
   * and each turn is a row of its own. A long game stays within a short context.
   */
  readonly memoryless?: boolean;
  /** How many episodes may be open at once, where a server has a limit. */
  readonly episodesAtOnce?: number;
  reset(task: Example, rng: Rng): Promise<Turn<S>>;
  /** Steps of independent episodes, answered in the same order. */
  step(batch: readonly { readonly state: S; readonly action: Action }[]): Promise<Turn<S>[]>;
  /** Says that an episode will not be played to its end; what a server holds for it is set free. */
  leave?(state: S): void;
}

/** The code of an episode whose environment broke: it has no reward, which is never a zero. */
export const ENVIRONMENT_ERROR = "environment_error";
/** The code of an episode that was cut short because the policy could not read its next observation. */
export const CONTEXT_FULL = "context_full";

/** No task is in two of them. */
export const SPLITS = ["train", "dev", "holdout"] as const;
export type Split = (typeof SPLITS)[number];

/** A function that a policy may call; `parameters` is a JSON Schema of an object. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** An environment with its tasks: an embedded one, one of a file, or one that a server plays. */
export interface PlayableEnvironment {
  readonly environment: Environment;
  readonly tools: readonly Tool[];
  /** Every outcome code that an episode can end with; empty where a server does not say. */
  readonly codes: readonly string[];
  /** Those of a task that was solved. */
  readonly solved: readonly string[];
  /** The smallest and the largest reward of an episode; null where there is none, or it is unknown. */
  readonly rewards: readonly [least: number, most: number] | null;
  tasks(split: Split): Promise<readonly Example[]>;
  close(): Promise<void>;
}
