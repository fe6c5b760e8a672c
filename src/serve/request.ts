/** The fields that both endpoints take, and the request that they describe. */

import { randomInt } from "node:crypto";
import { z } from "zod";
import { canonicalJson, type Json } from "../core/json.ts";
import type { SamplingSettings } from "../core/policy.ts";
import { isFields } from "../core/records.ts";
import { badRequest } from "../http/errors.ts";

export interface CompletionRequest {
  readonly prompts: readonly (readonly number[])[];
  /** Completions of each prompt. */
  readonly n: number;
  readonly sampling: SamplingSettings;
  /** How many most likely tokens to report at each position; null without log-probs. */
  readonly alternatives: number | null;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

/** Prompts times n, in one request. */
export const MAX_CHOICES = 128;

const stopText = z
  .string()
  .min(1)
  .refine((text) => !/\p{Cs}/u.test(text), "half of a character cannot be a stop text");

export const FIELDS = {
  model: z.string(),
  n: z.int().min(1).max(MAX_CHOICES).default(1),
  seed: z.int().optional(),
  stop: z
    .union([stopText, z.array(stopText).max(4)], "expected a text, or up to 4 texts")
    .optional(),
  max_tokens: z.int().min(1).optional(),
  temperature: z.number().min(0).max(100).default(1),
  top_p: z.number().gt(0).max(1).default(1),
  top_k: z.int().min(0).default(0),
  stream: z.boolean().default(false),
  stream_options: z.strictObject({ include_usage: z.boolean().default(false) }).optional(),
  /** These two only identify the user. */
  user: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
};

type Common = z.infer<z.ZodObject<typeof FIELDS>>;

/** Parses the body with a schema; the error names the first field that is wrong. */
export function readFields<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(supported(body));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue === undefined) throw badRequest("the body is wrong");
  const where = [...issue.path, ...(issue.code === "unrecognized_keys" ? [issue.keys[0]] : [])];
  const param = where.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  const name = param.join("").slice(1);
  if (issue.code === "unrecognized_keys") {
    throw badRequest(`unknown parameter "${name}"`, name, "unknown_parameter");
  }
  throw badRequest(`"${name}" is wrong: ${issue.message.replace("Invalid input: ", "")}`, name);
}

/**
 * Fields of OpenAI's API that this server does not support. They are refused by name, never ignored,
 * except with these neutral values, which clients send by default.
 */
const UNSUPPORTED = new Map<string, readonly Json[]>(
  Object.entries({
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
  }),
);

/** The body without unsupported fields that have a neutral value. */
function supported(body: unknown): Record<string, unknown> {
  if (!isFields(body)) throw badRequest("the body must be a JSON object");
  const kept = Object.entries(body).filter(([name, value]) => {
    const neutral = UNSUPPORTED.get(name)?.map(canonicalJson);
    if (neutral === undefined) return true;
    if (neutral.includes(canonicalJson(value))) return false;
    throw badRequest(
      `this server does not support "${name}"; leave it out`,
      name,
      "unsupported_parameter",
    );
  });
  return Object.fromEntries(kept);
}

/** The part of a request that is the same for both endpoints. */
export function commonOf(
  fields: Omit<Common, "max_tokens">,
  maxTokens: number,
): Pick<CompletionRequest, "n" | "sampling" | "stream" | "includeUsage"> {
  const { n, stream, stream_options, temperature, top_p, top_k, stop = [] } = fields;
  if (stream_options && !stream) {
    throw badRequest('"stream_options" goes with "stream": true', "stream_options");
  }
  const seed = fields.seed ?? randomInt(2 ** 47);
  return {
    n,
    stream,
    includeUsage: stream_options?.include_usage ?? false,
    sampling: { temperature, top_p, top_k, max_tokens: maxTokens, stop: [stop].flat(), seed },
  };
}
