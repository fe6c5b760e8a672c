/** What both endpoints take: the fields, and what they come to. */

import { randomInt } from "node:crypto";
import { z } from "zod";
import type { SamplingSettings } from "../core/policy.ts";
import { invalid } from "./errors.ts";
import { supported } from "./unsupported.ts";

/** A request, understood. */
export interface Asked {
  readonly prompts: readonly (readonly number[])[];
  /** Completions of each prompt. */
  readonly n: number;
  readonly sampling: SamplingSettings;
  /** The likeliest tokens to name beside each; null when no log-probs are wanted. */
  readonly alternatives: number | null;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

/** Of one request: prompts times n. */
export const MOST_CHOICES = 128;

const stopText = z
  .string()
  .min(1)
  .refine((text) => !/\p{Cs}/u.test(text), "half of a character stops nothing");

export const FIELDS = {
  model: z.string(),
  n: z.int().min(1).max(MOST_CHOICES).default(1),
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
  /** These two say who asks, which changes no answer. */
  user: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
};

type Common = z.infer<z.ZodObject<typeof FIELDS>>;

/** The body by its schema; the first thing that is wrong is named. */
export function readFields<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(supported(body));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue === undefined) throw invalid("the body is wrong");
  const where = [...issue.path, ...(issue.code === "unrecognized_keys" ? [issue.keys[0]] : [])];
  const param = where.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  const name = param.join("").slice(1);
  if (issue.code === "unrecognized_keys") {
    throw invalid(`unknown parameter "${name}"`, name, "unknown_parameter");
  }
  throw invalid(`"${name}" is wrong: ${issue.message.replace("Invalid input: ", "")}`, name);
}

/** The part of a request that is the same for both endpoints. */
export function commonOf(
  fields: Omit<Common, "max_tokens">,
  maxTokens: number,
): Pick<Asked, "n" | "sampling" | "stream" | "includeUsage"> {
  const { n, stream, stream_options, temperature, top_p, top_k, stop = [] } = fields;
  if (stream_options && !stream) {
    throw invalid('"stream_options" goes with "stream": true', "stream_options");
  }
  const seed = fields.seed ?? randomInt(2 ** 47);
  return {
    n,
    stream,
    includeUsage: stream_options?.include_usage ?? false,
    sampling: { temperature, top_p, top_k, max_tokens: maxTokens, stop: [stop].flat(), seed },
  };
}
