/** What can go wrong with one grade, by the names that the API's replies use. */

import type { JsonObject } from "../core/json.ts";

/** The flags of a reply of `graders/run`, in its order; a later kind of grader may raise any. */
export const FLAGS = [
  "formula_parse_error",
  "sample_parse_error",
  "truncated_observation_error",
  "unresponsive_reward_error",
  "invalid_variable_error",
  "other_error",
  "python_grader_server_error",
  "python_grader_runtime_error",
  "model_grader_server_error",
  "model_grader_refusal_error",
  "model_grader_parse_error",
] as const;

export type Flag = (typeof FLAGS)[number];

/**
 * Why there is no grade. `blame` decides what a row gets: a sample that cannot be read scores 0, an
 * item that cannot be read is an invalid example, and a grader that breaks is an error row.
 */
export interface Fault {
  readonly flag: Flag;
  readonly blame: "sample" | "item" | "grader";
  readonly message: string;
  /** For the row's details. */
  readonly more?: JsonObject;
}

export const fault = (flag: Flag, blame: Fault["blame"], message: string): Fault => ({
  ...{ flag, blame, message },
});

/** What a row's details say of a fault. */
export function faultDetails({ flag, message, more }: Fault): JsonObject {
  return { message, errors: { [flag]: true }, ...more };
}
