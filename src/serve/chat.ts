/** POST /v1/chat/completions: messages through the policy's chat template. */

import { z } from "zod";
import { badRequest } from "../http/errors.ts";
import { chatLogprobs } from "./logprobs.ts";
import { requireReadable, tokensOfMessages } from "./prompt.ts";
import { commonOf, FIELDS, readFields } from "./request.ts";
import type { Endpoint } from "./service.ts";

/** The cache is allocated for all of them at the start, so "as many as fit" would be expensive. */
const DEFAULT_TOKENS = 512;

const textPart = z.strictObject({ type: z.literal("text"), text: z.string() });

const message = z.strictObject({
  role: z.enum(["system", "developer", "user", "assistant"]),
  content: z.union([z.string(), z.array(textPart).min(1)], "expected a text, or parts of text"),
});

const REQUEST = z.strictObject({
  ...FIELDS,
  messages: z.array(message).min(1),
  max_completion_tokens: z.int().min(1).optional(),
  logprobs: z.boolean().default(false),
  top_logprobs: z.int().min(0).max(20).optional(),
});

export const CHAT: Endpoint = {
  idPrefix: "chatcmpl-",
  object: "chat.completion",
  chunkObject: "chat.completion.chunk",

  read(body, checkpoint) {
    const fields = readFields(REQUEST, body);
    const { max_tokens: older, max_completion_tokens: most = older, logprobs } = fields;
    if (older !== undefined && older !== most) {
      throw badRequest('"max_tokens" and "max_completion_tokens" differ; give one', "max_tokens");
    }
    if (fields.top_logprobs !== undefined && !logprobs) {
      throw badRequest('"top_logprobs" goes with "logprobs": true', "top_logprobs");
    }
    const prompt = tokensOfMessages(checkpoint, fields.messages.map(plain));
    requireReadable(checkpoint, prompt, "messages");
    return {
      prompts: [prompt],
      ...commonOf(fields, most ?? DEFAULT_TOKENS),
      alternatives: logprobs ? (fields.top_logprobs ?? 0) : null,
    };
  },

  opening: { delta: { role: "assistant", content: "" } },
  whole: (text) => ({ message: { role: "assistant", content: text, refusal: null } }),
  part: (text) => ({ delta: { content: text } }),
  logprobs: chatLogprobs,
};

/** Templates know neither content parts nor the newer name of the system role. */
function plain({ role, content }: z.infer<typeof message>) {
  return {
    role: role === "developer" ? "system" : role,
    content: typeof content === "string" ? content : content.map(({ text }) => text).join(""),
  };
}
