/** A tool as chat models are offered it. */

import type { Tool } from "../core/environment.ts";
import type { JsonObject } from "../core/json.ts";

export function openAiTool({ name, description, parameters }: Tool): JsonObject {
  return { type: "function", function: { name, description, parameters } };
}
