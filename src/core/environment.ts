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
  /** Appended to what the policy has read so far. */
  readonly observation: readonly Message[];
  /** Null when it could not be computed, which is never the same as 0. */
  readonly reward: number | null;
  /** Further numbers of this turn, such as the parts of a reward or a cost. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** Present on the last turn. */
  readonly end?: EpisodeEnd;
}

export interface Environment<S = unknown> {
  /** What the manifest records of it. */
  readonly identity: JsonObject;
  reset(task: Example, rng: Rng): Promise<Turn<S>>;
  /** Steps of independent episodes, answered in the same order. */
  step(batch: readonly { readonly state: S; readonly action: Action }[]): Promise<Turn<S>[]>;
}
