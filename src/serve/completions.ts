/** POST /v1/completions: text in, text out; no chat template. */

import { z } from "zod";
import { badRequest } from "../http/errors.ts";
import type { Checkpoint } from "../policy/checkpoint.ts";
import { completionLogprobs } from "./logprobs.ts";
import { requireReadable, tokensOfText } from "./prompt.ts";
import { commonOf, FIELDS, MAX_CHOICES, readFields } from "./request.ts";
import type { Endpoint } from "./service.ts";

/** OpenAI's default. */
const DEFAULT_TOKENS = 16;

const tokens = z.array(z.int().min(0)).min(1);

const REQUEST = z.strictObject({
  ...FIELDS,
  prompt: z.union(
    [z.string(), tokens, z.array(z.string()).min(1), z.array(tokens).min(1)],
    "expected a text, a list of tokens, or a list of either",
  ),
  logprobs: z.int().min(0).max(5).optional(),
});

export const COMPLETIONS: Endpoint = {
  idPrefix: "cmpl-",
  object: "text_completion",
  chunkObject: "text_completion",

  read(body, checkpoint) {
    const { prompt, logprobs, max_tokens: most, ...fields } = readFields(REQUEST, body);
    const prompts = promptsOf(prompt, checkpoint);
    if (prompts.length * fields.n > MAX_CHOICES) {
      throw badRequest(`prompts times n are more than ${MAX_CHOICES}`, "n");
    }
    return {
      prompts,
      ...commonOf(fields, most ?? DEFAULT_TOKENS),
      alternatives: logprobs ?? null,
    };
  },

  whole: (text) => ({ text }),
  part: (text) => ({ text }),
  logprobs: completionLogprobs,
};

function promptsOf(prompt: z.infer<typeof REQUEST>["prompt"], checkpoint: Checkpoint): number[][] {
  const one = typeof prompt === "string" || typeof prompt[0] === "number";
  const list = (one ? [prompt] : prompt) as (string | number[])[];
  return list.map((each, i) => {
    const param = one ? "prompt" : `prompt[${i}]`;
    const ids = typeof each === "string" ? tokensOfText(checkpoint, each, param) : each;
    requireReadable(checkpoint, ids, param);
    return ids;
  });
}
