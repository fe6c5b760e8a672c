/** Fields of OpenAI's API that cannot be honoured are refused by name: ignored, they would mislead. */

import { canonicalJson, type Json } from "../core/json.ts";
import { invalid } from "./errors.ts";

/** For each, the values that ask for nothing; clients send them along. */
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

/** The body without the fields that ask for nothing. */
export function supported(body: unknown): Record<string, unknown> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid("the body must be a JSON object");
  }
  const kept = Object.entries(body).filter(([name, value]) => {
    const harmless = Object.hasOwn(UNSUPPORTED, name) ? UNSUPPORTED[name] : undefined;
    if (harmless === undefined) return true;
    const asked = canonicalJson(value as Json);
    if (harmless.some((one) => canonicalJson(one) === asked)) return false;
    throw invalid(
      `this server does not support "${name}"; leave it out`,
      name,
      "unsupported_parameter",
    );
  });
  return Object.fromEntries(kept);
}
