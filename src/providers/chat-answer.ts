/** Parses the chat completion of an endpoint. */

import type { SampledCompletion } from "../core/policy.ts";
import { isFields } from "../core/records.ts";
import { Malformed } from "./retry.ts";

/** A call of a tool, as the endpoint wrote it. */
export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  /** JSON, or what the model took for it. */
  readonly arguments: string;
}

export interface ChatAnswer extends SampledCompletion {
  readonly calls: readonly WrittenCall[];
}

/** Throws `Malformed` with the reason; nothing about the form of the answer is assumed. */
export function readChatAnswer(body: unknown): ChatAnswer {
  if (!isFields(body)) throw new Malformed(`it is not a JSON object: ${text(body)}`);
  const choice = Array.isArray(body.choices) ? body.choices[0] : undefined;
  const message = isFields(choice) ? choice.message : undefined;
  if (!isFields(choice) || !isFields(message)) {
    throw new Malformed(`it has no choices[0].message: ${text(body.error ?? body)}`);
  }
  const { content, refusal } = message;
  if (content !== null && content !== undefined && typeof content !== "string")
    throw new Malformed(`its content is not text: ${text(content)}`);
  return {
    completion: content ?? "",
    ...ending(choice.finish_reason),
    ...tokens(body.usage),
    logprobs: logprobsOf(choice.logprobs),
    sampled_logprobs: null,
    ...(typeof refusal === "string" && refusal !== "" && { refusal }),
    calls: callsOf(message.tool_calls),
  };
}

function callsOf(calls: unknown): WrittenCall[] {
  if (calls === undefined || calls === null) return [];
  if (!Array.isArray(calls)) throw new Malformed(`its tool_calls are no list: ${text(calls)}`);
  return calls.map((call) => {
    const called = isFields(call) ? call.function : undefined;
    if (!isFields(called) || typeof called.name !== "string")
      throw new Malformed(`a tool call names no function: ${text(call)}`);
    const { name, arguments: given = "" } = called;
    const id = isFields(call) && typeof call.id === "string" ? call.id : "";
    return { id, name, arguments: typeof given === "string" ? given : text(given) };
  });
}

function ending(reason: unknown): Pick<SampledCompletion, "finish" | "finish_reason"> {
  if (reason === "stop" || reason === "length") return { finish: reason };
  return { finish: "stop", finish_reason: typeof reason === "string" ? reason : "unknown" };
}

function tokens(
  usage: unknown,
): Pick<SampledCompletion, "prompt_tokens" | "completion_tokens" | "usage_missing"> {
  const { prompt_tokens: asked, completion_tokens: said } = isFields(usage) ? usage : {};
  if (isCount(asked) && isCount(said)) return { prompt_tokens: asked, completion_tokens: said };
  return { prompt_tokens: 0, completion_tokens: 0, usage_missing: true };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** One number for each token, or none: the sum of an incomplete list would be wrong. */
function logprobsOf(logprobs: unknown): readonly number[] | null {
  const content = isFields(logprobs) ? logprobs.content : undefined;
  if (!Array.isArray(content) || content.length === 0) return null;
  const values = content.map((token) => (isFields(token) ? token.logprob : undefined));
  return values.every(isLogprob) ? values : null;
}

/** A completions file accepts sums up to 1e12; log-probs of tokens are far smaller. */
function isLogprob(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= 1e6;
}

/** In full: keys are redacted before anything is shortened, since half a key is still a secret. */
function text(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
}
