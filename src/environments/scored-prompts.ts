/** Environments that are made of the scorers that a command was given, by name. */

import type { Environment } from "../core/environment.ts";
import { type SingleTurnOptions, singleTurn } from "./single-turn.ts";

export type EnvironmentParts = SingleTurnOptions;

export const ENVIRONMENTS = {
  single_turn: singleTurn,
} as const satisfies Readonly<Record<string, (parts: EnvironmentParts) => Environment>>;

export type EnvironmentName = keyof typeof ENVIRONMENTS;
