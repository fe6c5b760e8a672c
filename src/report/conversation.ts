/** An episode as readers are shown it, from a row of a run or from a trajectory. */

import { explanationOf } from "../core/judged-trajectory.ts";
import { hasPassed, isSolved } from "../core/score.ts";
import type { Trajectory } from "../core/trajectory.ts";
import type { ResultRow, RowEpisode } from "../runs/schemas.ts";

export type ShownMessage = RowEpisode["messages"][number];

export interface Conversation {
  readonly id: string;
  /** Which of the task's episodes it is. */
  readonly sample: number;
  readonly code: string;
  readonly reward: number | null;
  readonly passed: boolean;
  readonly terminated: boolean;
  readonly turns: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly messages: readonly ShownMessage[];
  readonly details: ResultRow["details"];
  readonly logs: readonly string[];
}

/** Undefined of a row that is no episode. */
export function conversationOf(row: ResultRow): Conversation | undefined {
  const { episode, id, reward, outcome_code: code, details } = row;
  return episode && { ...episode, id, reward, code, details, passed: hasPassed(row), logs: [] };
}

export function conversationIn(trajectory: Trajectory, solved: readonly string[]): Conversation {
  const { metrics, metadata, messages } = trajectory;
  const { turns: _, ...figures } = metrics;
  const message = explanationOf(trajectory);
  return {
    ...trajectory,
    messages: messages as readonly ShownMessage[],
    metrics: figures,
    turns: messages.filter(({ role }) => role === "assistant").length,
    passed: isSolved(trajectory, solved),
    details: (message === undefined
      ? (metadata.details ?? {})
      : { message }) as ResultRow["details"],
  };
}

/** The messages in their order, each action with its number from 1. */
export function numbered(
  messages: readonly ShownMessage[],
): { readonly message: ShownMessage; readonly turn: number | undefined }[] {
  let turns = 0;
  return messages.map((message) => ({
    message,
    turn: message.role === "assistant" ? ++turns : undefined,
  }));
}
