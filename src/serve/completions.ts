/** POST /v1/completions: text in, text out; no chat template. */

import { z } from "zod";
import type { Checkpoint } from "../policy/checkpoint.ts";
import type { Piece } from "./answer.ts";
import { commonOf, FIELDS, MOST_CHOICES, readFields } from "./asked.ts";
import type { Endpoint, Writing } from "./endpoint.ts";
import { invalid } from "./errors.ts";
import { completionLogprobs } from "./logprobs.ts";
import { refuseUnreadable, tokensOfText } from "./prompt.ts";

/** OpenAI's. */
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
    if (prompts.length * fields.n > MOST_CHOICES) {
      throw invalid(`prompts times n are more than ${MOST_CHOICES}`, "n");
    }
    return {
      prompts,
      ...commonOf(fields, most ?? DEFAULT_TOKENS),
      alternatives: logprobs ?? null,
    };
  },

  choice: choiceOf,
  opening: () => undefined,
  part: choiceOf,
};

function promptsOf(prompt: z.infer<typeof REQUEST>["prompt"], checkpoint: Checkpoint): number[][] {
  const one = typeof prompt === "string" || typeof prompt[0] === "number";
  const list = (one ? [prompt] : prompt) as (string | number[])[];
  return list.map((each, i) => {
    const param = one ? "prompt" : `prompt[${i}]`;
    const ids = typeof each === "string" ? tokensOfText(checkpoint, each, param) : each;
    refuseUnreadable(checkpoint, ids, param);
    return ids;
  });
}

function choiceOf({ index, text, tokens, finish }: Piece, { tokenizer, logprobs }: Writing) {
  return {
    index,
    text,
    logprobs: logprobs ? completionLogprobs(tokenizer, tokens) : null,
    finish_reason: finish,
  };
}
