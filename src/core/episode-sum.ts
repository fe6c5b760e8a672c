/** What the turns of an episode add up to, whoever plays it. */

import type { Message, Turn } from "./environment.ts";

export class EpisodeSum<S = unknown> {
  /** What the environment showed before the first action, then after each. */
  readonly observations: (readonly Message[])[];
  /** Of each action; that of the start belongs to the first. */
  readonly turnRewards: (number | null)[] = [];
  /** Of all turns together; null when one could not be computed. */
  reward: number | null;
  /** Summed over the turns. */
  readonly metrics: Record<string, number>;
  /** The last turn. */
  turn: Turn<S>;

  /** `start` is the turn of `reset`. */
  constructor(start: Turn<S>) {
    this.turn = start;
    this.observations = [start.observation];
    this.reward = start.reward;
    // A metric may have any name, also one that every object has, such as `toString`.
    this.metrics = Object.assign(Object.create(null), start.metrics);
  }

  /** The turn that answers the next action. */
  add(turn: Turn<S>): void {
    const isFirst = this.turnRewards.length === 0;
    this.turnRewards.push(isFirst ? sumOf(this.turn.reward, turn.reward) : turn.reward);
    this.reward = sumOf(this.reward, turn.reward);
    this.observations.push(turn.observation);
    for (const [name, value] of Object.entries(turn.metrics ?? {}))
      this.metrics[name] = (this.metrics[name] ?? 0) + value;
    this.turn = turn;
  }
}

function sumOf(before: number | null, reward: number | null): number | null {
  return before === null || reward === null ? null : before + reward;
}
