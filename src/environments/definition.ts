/** What the file of an environment exports: its tasks, its rules, and two players that prove them. */

import type { Action, Split, Tool, Turn } from "../core/environment.ts";
import type { Example } from "../core/records.ts";

/**
 * A task that is played over turns. `S` is the state: plain JSON, because everything that a step
 * depends on is in it, and a game can be played again from any of its states.
 */
export interface EnvironmentDefinition<S = unknown> {
  readonly name: string;
  readonly version: string;
  /** The rules and the reward in words; copied into every manifest. */
  readonly spec: string;
  /** Every outcome code that an episode can end with. */
  readonly codes: readonly string[];
  /** Those of a task that was solved. */
  readonly solved: readonly string[];
  /** The smallest and the largest reward of an episode; null when it gives none of its own. */
  readonly rewards: readonly [least: number, most: number] | null;
  /** An episode that is not over after so many turns is cut short with the code `out_of_turns`. */
  readonly maxTurns: number;
  /** Whether the policy reads only the last observation, because it shows everything that matters. */
  readonly memoryless?: boolean;
  readonly tools?: readonly Tool[];
  /** Whether episodes of one task differ by their seed. */
  readonly random: boolean;
  /** The tasks of a split, the same at every call. */
  tasks(split: Split): readonly Example[];
  reset(task: Example, seed: number): Turn<S>;
  step(state: S, action: Action): Turn<S>;
  readonly players: Players<S>;
  /** The state for a person to look at in a terminal. */
  ansi(state: S): string;
}

/** What shows, without a model, that the reward means something. */
export interface Players<S> {
  /** Plays as well as can be; it may read the state, which a policy cannot. */
  readonly gold?: (state: S) => string;
  /** Does nothing of use in each turn. */
  readonly idle: (state: S) => string;
  /** Tries for the reward without solving the task, where somebody knows how. */
  readonly exploit?: (state: S) => string;
}

/** The code of an episode that the harness cut short. */
export const OUT_OF_TURNS = "out_of_turns";
