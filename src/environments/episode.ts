/** Plays one episode of a definition with a function in place of a policy. */

import type { EpisodeEnd, Turn } from "../core/environment.ts";
import type { Example } from "../core/records.ts";
import { rngAt } from "../core/rng.ts";
import { type EnvironmentDefinition, OUT_OF_TURNS } from "./definition.ts";

/** An episode as it was played: the turn of `reset`, then one for each action. */
export interface ScriptedEpisode<S> {
  readonly task: Example;
  readonly turns: readonly Turn<S>[];
  readonly actions: readonly string[];
  /** The sum over the turns; null when one had none. */
  readonly reward: number | null;
  readonly end: EpisodeEnd;
}

/** A task has a seed of its own under each seed of a run. */
export function episodeSeed(seed: number, task: Example): number {
  return rngAt(seed, "episode", task.id).below(2 ** 32);
}

export function playScripted<S>(
  definition: EnvironmentDefinition<S>,
  task: Example,
  seed: number,
  player: (state: S, turn: number) => string,
): ScriptedEpisode<S> {
  const turns = [definition.reset(task, episodeSeed(seed, task))];
  const actions: string[] = [];
  for (let last = turns[0] as Turn<S>; !last.end; ) {
    if (actions.length === definition.maxTurns) break;
    const action = player(last.state, actions.length);
    actions.push(action);
    last = definition.step(last.state, { text: action });
    turns.push(last);
  }
  const end = turns.at(-1)?.end ?? { code: OUT_OF_TURNS, terminated: false, details: {} };
  return { task, turns, actions, reward: totalReward(turns), end };
}

function totalReward(turns: readonly Turn<unknown>[]): number | null {
  return turns.reduce<number | null>(
    (sum, { reward }) => (sum === null || reward === null ? null : sum + reward),
    0,
  );
}
