/** Fields of OpenAI's API that this server does not support are refused by name, never ignored. */

import { canonicalJson, type Json } from "../core/json.ts";
import { badRequest } from "../http/errors.ts";

/** For each, the neutral values, which clients send by default. */
const UNSUPPORTED: Record<string, readonly Json[]> = {
  audio: [],
  best_of: [1],
  echo: [false],
  frequency_penalty: [0],
  function_call: ["none", "auto"],
  functions: [[]],
  logit_bias: [{}],
  modalities: [["text"]],
  parallel_tool_calls: [true, false],
  prediction: [],
  presence_penalty: [0],
  reasoning_effort: [],
  response_format: [{ type: "text" }],
  service_tier: ["auto", "default"],
  store: [false],
  suffix: [""],
  tool_choice: ["none", "auto"],
  tools: [[]],
  verbosity: [],
  web_search_options: [],
};

/** The body without unsupported fields that have a neutral value. */
export function supported(body: unknown): Record<string, unknown> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw badRequest("the body must be a JSON object");
  }
  const kept = Object.entries(body).filter(([name, value]) => {
    const harmless = Object.hasOwn(UNSUPPORTED, name) ? UNSUPPORTED[name] : undefined;
    if (harmless === undefined) return true;
    const asked = canonicalJson(value as Json);
    if (harmless.some((one) => canonicalJson(one) === asked)) return false;
    throw badRequest(
      `this server does not support "${name}"; leave it out`,
      name,
      "unsupported_parameter",
    );
  });
  return Object.fromEntries(kept);
}
