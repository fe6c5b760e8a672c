/** The turns of a policy in an episode, as a rollout counts them. */

import type { Trajectory } from "../core/trajectory.ts";
import type { NotedAnswer } from "../runs/note-facts.ts";
import type { RolloutTally } from "./rollout-tally.ts";
import { refusalOf } from "./trajectory.ts";

export function addTurns(turns: RolloutTally, trajectory: Trajectory): void {
  for (const [turn, { content, sampled }] of turnsOf(trajectory).entries()) {
    const { logprobs, ...counts } = sampled;
    const refusal = refusalOf(trajectory, turn);
    turns.add({ completion: content, ...counts, refusal, ...(logprobs && { logprobs }) });
  }
}

/** As the note of a rollout shows it. */
export function notedOf(trajectory: Trajectory): NotedAnswer {
  const completion = turnsOf(trajectory).at(-1)?.content ?? "";
  return { id: trajectory.id, completion, finish: trajectory.code };
}

const turnsOf = ({ messages }: Trajectory) =>
  messages.filter((message) => message.role === "assistant");
