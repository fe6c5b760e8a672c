/** Every environment, by name. */

import type { Environment } from "../core/environment.ts";
import { type SingleTurnOptions, singleTurn } from "./single-turn.ts";

export { type CheckOptions, checkEnvironment, type Finding } from "./check.ts";
export type { EnvironmentDefinition, Players } from "./definition.ts";
export { type EnvironmentIdentity, type OpenedEnvironment, openEnvironment } from "./open.ts";
export { openPlayable } from "./playable.ts";
export { type SingleTurnOptions, singleTurn } from "./single-turn.ts";
export { game2048 } from "./twenty48/twenty48.ts";

/** What an environment is made of: the scorers that the command was given. */
export type EnvironmentParts = SingleTurnOptions;

export const ENVIRONMENTS = {
  single_turn: singleTurn,
} as const satisfies Readonly<Record<string, (parts: EnvironmentParts) => Environment>>;

export type EnvironmentName = keyof typeof ENVIRONMENTS;
