/** A definition as the loops play it: batched, with its identity, cut short after too many turns. */

import type { Environment, PlayableEnvironment, Turn } from "../core/environment.ts";
import type { JsonObject } from "../core/json.ts";
import { OUT_OF_TURNS } from "./definition.ts";
import { episodeSeed } from "./episode.ts";
import { type OpenedEnvironment, openEnvironment } from "./open.ts";

/** The state of a definition, and how many turns were played. */
export interface Played {
  readonly state: unknown;
  readonly turns: number;
}

export function playable({ definition, identity }: OpenedEnvironment): Environment<Played> {
  const { maxTurns, memoryless = false } = definition;
  return {
    identity: identity as unknown as JsonObject,
    memoryless,
    reset: async (task, rng) => {
      // As the server of `env serve` does it: the same seed is the same episode there.
      const turn = definition.reset(task, episodeSeed(rng.below(2 ** 32), task));
      return { ...turn, state: { state: turn.state, turns: 0 } };
    },
    step: async (batch) =>
      batch.map(({ state: { state, turns: before }, action }) => {
        const turn: Turn<unknown> = definition.step(state, action);
        const turns = before + 1;
        const next = { ...turn, state: { state: turn.state, turns } };
        return !turn.end && turns === maxTurns ? { ...next, end: cutShort(maxTurns) } : next;
      }),
  };
}

/** Opens an environment by its name or file, ready to be played. */
export async function openPlayable(given: string): Promise<PlayableEnvironment> {
  const opened = await openEnvironment(given);
  const { tools = [], codes, solved, rewards, tasks } = opened.definition;
  return {
    environment: playable(opened),
    ...{ tools, codes: [...codes, OUT_OF_TURNS], solved, rewards },
    tasks: async (split) => tasks(split),
    close: async () => {},
  };
}

function cutShort(turns: number) {
  return { code: OUT_OF_TURNS, terminated: false, details: { turns } };
}
