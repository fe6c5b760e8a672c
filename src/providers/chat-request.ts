/** The body of a chat completion request, without the parameters that the endpoint rejects. */

import type { Tool } from "../core/environment.ts";
import type { SamplingSettings } from "../core/policy.ts";
import { type Coordinate, rngAt } from "../core/rng.ts";
import type { Failure } from "./retry.ts";

/** A message as the API has it. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | null;
  readonly tool_calls?: readonly object[];
  readonly tool_call_id?: string;
}

/** What one request asks for. */
export interface ChatAsk {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** Where its seed is drawn. */
  readonly address: readonly Coordinate[];
  /** Of the example or task, for messages to people. */
  readonly id: string;
  /** What the id is of; an example unless given. */
  readonly what?: string | undefined;
  /** In place of parameters of the sampling settings; null leaves one out. */
  readonly parameters?: Readonly<Record<string, string | number | null>> | undefined;
  /** The JSON schema of the answer, with its name. */
  readonly answerSchema?: { readonly name: string; readonly schema: object } | undefined;
}

type Parameter = "logprobs" | "seed" | "max_tokens" | "parallel_tool_calls" | "response_format";

/** Parameters that an endpoint may reject without changing what the samples mean, and the notice for each. */
const DISPENSABLE: Record<Parameter, string> = {
  logprobs: "The endpoint does not support logprobs; the completions have no log-probs.",
  seed: "The endpoint does not support seed; the samples cannot be reproduced.",
  parallel_tool_calls:
    "The endpoint does not support parallel_tool_calls; of several calls in a turn the first is made.",
  max_tokens: "The endpoint requires max_completion_tokens instead of max_tokens.",
  response_format:
    "The endpoint does not support a JSON schema for answers; they are checked all the same.",
};

const OBJECTION = /support|allow|permit|recogni|unknown|unexpected|extra|invalid|unavailable/i;
/** Other words for a parameter that objections use. */
const ALSO_CALLED: Partial<Record<Parameter, string>> = {
  response_format: "response_format|response format|json_schema",
};
const REFUSED = [400, 403, 422];

/** Seeds that every endpoint takes: not negative, and of 31 bits. */
const SEEDS = 2 ** 31;

export class ChatRequest {
  readonly #model: string;
  readonly #sampling: SamplingSettings;
  readonly #logprobs: boolean;
  readonly #dropped = new Set<Parameter>();

  constructor(
    model: string,
    sampling: SamplingSettings,
    { logprobs }: { readonly logprobs: boolean },
  ) {
    this.#model = model;
    this.#sampling = sampling;
    this.#logprobs = logprobs;
  }

  body(ask: ChatAsk): Record<string, unknown> {
    const body = { ...this.#whole(ask), ...ask.parameters };
    if (ask.parameters === undefined) return body;
    const kept = ([name, value]: [string, unknown]) => value !== null && !this.#isDropped(name);
    return Object.fromEntries(Object.entries(body).filter(kept));
  }

  #isDropped(name: string): boolean {
    return name === "seed" && this.#dropped.has(name);
  }

  #whole({ messages, tools, address, answerSchema }: ChatAsk): Record<string, unknown> {
    const { temperature, top_p, top_k, max_tokens, stop } = this.#sampling;
    return {
      model: this.#model,
      messages,
      ...(tools.length > 0 && this.#offered(tools)),
      temperature,
      top_p,
      ...(this.#dropped.has("max_tokens") ? { max_completion_tokens: max_tokens } : { max_tokens }),
      // OpenAI rejects top_k; other endpoints accept it and default to "all".
      ...(top_k > 0 && { top_k }),
      ...(stop.length > 0 && { stop }),
      ...(!this.#dropped.has("seed") && {
        seed: rngAt(...address).below(SEEDS),
      }),
      ...(this.#logprobs && !this.#dropped.has("logprobs") && { logprobs: true }),
      ...(answerSchema &&
        !this.#dropped.has("response_format") && {
          response_format: { type: "json_schema", json_schema: { ...answerSchema, strict: true } },
        }),
    };
  }

  /** An environment takes one call in a turn. */
  #offered(tools: readonly Tool[]): object {
    return {
      tools: tools.map((tool) => ({ type: "function", function: tool })),
      ...(!this.#dropped.has("parallel_tool_calls") && { parallel_tool_calls: false }),
    };
  }

  /**
   * True when the request can be changed and sent again. `notice` is called the first time only:
   * other requests in flight are rejected in the same way.
   */
  adapt(refused: object, failure: Failure, notice: (text: string) => void): boolean {
    if (!REFUSED.includes(failure.status ?? 0)) return false;
    const guilty = (Object.keys(DISPENSABLE) as Parameter[]).find(
      (name) => name in refused && objectsTo(failure, name),
    );
    if (guilty === undefined) return false;
    if (!this.#dropped.has(guilty)) notice(DISPENSABLE[guilty]);
    this.#dropped.add(guilty);
    return true;
  }
}

function objectsTo({ param, message }: Failure, name: Parameter): boolean {
  if (param === name || param?.startsWith(`${name}.`)) return true;
  const names = new RegExp(`\\b(?:${ALSO_CALLED[name] ?? name})\\b`);
  return names.test(message) && OBJECTION.test(message);
}
