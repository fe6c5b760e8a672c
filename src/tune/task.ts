/** What a run says of one task, in the messages that chat models exchange. */

import type { JsonObject } from "../core/json.ts";

/** What was answered, from the first answer on, and what became of it. */
export interface Attempt {
  readonly messages: readonly JsonObject[];
  /** Null where nothing scored it. */
  readonly reward: number | null;
  readonly passed: boolean | null;
  /** Of each assistant message in turn, where turns have rewards. */
  readonly turnRewards?: readonly (number | null)[];
}

export interface Task {
  readonly id: string;
  /** What stands before the first answer. */
  readonly prompt: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
  readonly attempts: readonly Attempt[];
  /** Attempts that somebody chose to pair: the better and the worse. */
  readonly pair?: readonly [Attempt, Attempt];
  /** Fields of the example for graders, besides its id. */
  readonly item: JsonObject;
  /** Fields of the row that no other has a place for, such as `parallel_tool_calls`. */
  readonly extra?: JsonObject;
}

export interface TaskSource {
  /** As it was named. */
  readonly path: string;
  /** Such as "evaluation". */
  readonly what: string;
  /** Of the file that the tasks are read from. */
  readonly sha256: string;
  /** The hash of the system prompt that the policy was given; undefined where it is unknown. */
  readonly systemSha256?: string | null | undefined;
  /** What the reader should know of it. */
  readonly notes: readonly string[];
  /** A fresh pass. Episodes of a task that follow each other are one task. */
  tasks(): AsyncIterable<Task>;
}

/** Whether tasks are wanted for their answers, or for the fields that graders read. */
export type Wanted = "answers" | "items";
