/** Reads a chat completion, as endpoints really send it, into what was said. */

import type { SampledCompletion } from "../core/policy.ts";
import { isFields } from "../core/records.ts";
import { Malformed } from "./retry.ts";

const NOTHING: Record<string, unknown> = {};

/** Throws `Malformed` with what is wrong; nothing of the answer is trusted to have its form. */
export function readChatAnswer(body: unknown): SampledCompletion {
  if (!isFields(body)) throw new Malformed(`it is no JSON object: ${text(body)}`);
  const choice = Array.isArray(body.choices) ? body.choices[0] : undefined;
  const message = isFields(choice) ? choice.message : undefined;
  if (!isFields(choice) || !isFields(message)) {
    throw new Malformed(`it has no choices[0].message: ${text(body.error ?? body)}`);
  }
  const { content, refusal } = message;
  if (content !== null && content !== undefined && typeof content !== "string")
    throw new Malformed(`its content is no text: ${text(content)}`);
  const logprobs = logprobsOf(choice.logprobs);
  return {
    completion: content ?? "",
    ...ending(choice.finish_reason),
    ...tokens(body.usage),
    logprobs,
    sampled_logprobs: null,
    ...(typeof refusal === "string" && refusal !== "" && { refusal }),
  };
}

function ending(reason: unknown): Pick<SampledCompletion, "finish" | "finish_reason"> {
  if (reason === "stop" || reason === "length") return { finish: reason };
  return { finish: "stop", finish_reason: typeof reason === "string" ? reason : "unknown" };
}

function tokens(
  usage: unknown,
): Pick<SampledCompletion, "prompt_tokens" | "completion_tokens" | "usage_missing"> {
  const { prompt_tokens: asked, completion_tokens: said } = isFields(usage) ? usage : NOTHING;
  if (isCount(asked) && isCount(said)) return { prompt_tokens: asked, completion_tokens: said };
  return { prompt_tokens: 0, completion_tokens: 0, usage_missing: true };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** One number for each token, or nothing: a list with holes would be summed to a lie. */
function logprobsOf(logprobs: unknown): readonly number[] | null {
  const content = isFields(logprobs) ? logprobs.content : undefined;
  if (!Array.isArray(content) || content.length === 0) return null;
  const values = content.map((token) => (isFields(token) ? token.logprob : undefined));
  return values.every(isLogprob) ? values : null;
}

/** A completions file refuses sums beyond 1e12; no log-prob of a token comes near a share of that. */
function isLogprob(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= 1e6;
}

/** Whole, because keys are taken out before anything is shortened: half a key is still a secret. */
function text(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
}
