/** Tasks that are played over turns: what their files export, how they are opened and checked. */

export { type CheckOptions, checkEnvironment, type Finding } from "./check.ts";
export type { EnvironmentDefinition, Players } from "./definition.ts";
export { type EnvironmentIdentity, type OpenedEnvironment, openEnvironment } from "./open.ts";
export { openPlayable } from "./playable.ts";
export { ENVIRONMENTS, type EnvironmentName, type EnvironmentParts } from "./scored-prompts.ts";
export { type SingleTurnOptions, singleTurn } from "./single-turn.ts";
export { game2048 } from "./twenty48/twenty48.ts";
