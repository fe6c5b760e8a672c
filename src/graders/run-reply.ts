/** The reply of the API's `graders/run`, for one item and one sample. */

import type { JsonObject } from "../core/json.ts";
import { type Fault, FLAGS, type Flag } from "./fault.ts";
import type { Grader } from "./grader-schema.ts";
import { graderName } from "./open-grader.ts";
import { type Grade, isFault } from "./opened.ts";

export interface RunReply {
  readonly reward: number;
  readonly metadata: {
    readonly name: string;
    readonly type: string;
    readonly execution_time: number;
    readonly scores: JsonObject;
    readonly token_usage: null;
    readonly sampled_model_name: null;
    readonly errors: JsonObject;
  };
  readonly sub_rewards: JsonObject;
  readonly model_grader_token_usage_per_model: JsonObject;
}

/** Details that the API gives beside some flags. */
const BESIDE: Partial<Record<Flag, string>> = {
  python_grader_server_error: "python_grader_server_error_type",
  python_grader_runtime_error: "python_grader_runtime_error_details",
  model_grader_parse_error: "model_grader_server_error_details",
};

/** `seconds` is how long the grader took. The API's reply has a reward of 0 where there is no grade. */
export function runReply(grader: Grader, given: Grade | Fault, seconds: number): RunReply {
  const parts = isFault(given) ? [] : [...(given.parts ?? [])];
  const rewards = parts.map(([key, part]) => [key, isFault(part) ? 0 : part.reward]);
  const faults = [given, ...parts.map(([, part]) => part)].filter(isFault);
  return {
    reward: isFault(given) ? 0 : given.reward,
    metadata: {
      ...{ name: graderName(grader), type: grader.type, execution_time: seconds },
      scores: {},
      ...{ token_usage: null, sampled_model_name: null },
      errors: errorsOf(faults),
    },
    sub_rewards: Object.fromEntries(rewards),
    model_grader_token_usage_per_model: {},
  };
}

function errorsOf(faults: readonly Fault[]): JsonObject {
  const errors: Record<string, boolean | string | null> = {};
  for (const flag of FLAGS) {
    const found = faults.find((one) => one.flag === flag);
    errors[flag] = found !== undefined;
    const beside = BESIDE[flag];
    if (beside !== undefined) errors[beside] = found?.message ?? null;
  }
  return errors;
}
