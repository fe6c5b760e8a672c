/**
 * A model behind an OpenAI-compatible endpoint as a policy: concurrent chat completion requests with
 * retries after temporary errors. Left out: streaming, images, and `n` of the API (each sample
 * is a request with its own seed, so that an interruption loses only the requests in flight).
 */

import type { ActingPolicy, NoReply } from "../core/actor.ts";
import type { Tool } from "../core/environment.ts";
import { fingerprint } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import type { SampledCompletion, SampleRequest, SamplingSettings } from "../core/policy.ts";
import { ChatEndpoint, type ChatEndpointOptions } from "./chat-endpoint.ts";
import { type ChatAsk, type ChatMessage, ChatRequest } from "./chat-request.ts";
import type { Send } from "./endpoint.ts";
import { EndpointActor } from "./endpoint-actor.ts";
import { connect } from "./openai-client.ts";
import { pooled } from "./pooled.ts";

export interface OpenAiOptions extends ChatEndpointOptions {
  readonly model: string;
  readonly sampling: SamplingSettings;
  readonly system?: string | undefined;
  /** Requests in flight at once. */
  readonly concurrency?: number | undefined;
}

const CONCURRENCY = 8;
const GRACE_MS = 10_000;

/**
 * Opens a model behind an OpenAI-compatible endpoint as a policy. Needs `openai`.
 * @example
 * ```ts
 * import { openOpenAiPolicy } from "lockedroom";
 * const policy = await openOpenAiPolicy({
 *   baseUrl: "http://127.0.0.1:8080/v1",
 *   apiKey: "none",
 *   model: "my-model",
 *   sampling: { temperature: 0.7, top_k: 0, top_p: 1, max_tokens: 256, stop: [], seed: 0 },
 * });
 * console.log(policy.identity);
 * await policy.close();
 * ```
 */
export async function openOpenAiPolicy(options: OpenAiOptions): Promise<OpenAiPolicy> {
  return new OpenAiPolicy(options, await connect(options));
}

export class OpenAiPolicy implements ActingPolicy {
  readonly identity: JsonObject;
  readonly prompt: JsonObject;
  readonly sampling: SamplingSettings;
  readonly #options: OpenAiOptions;
  readonly #request: ChatRequest;
  readonly #endpoint: ChatEndpoint;

  constructor(options: OpenAiOptions, send: Send) {
    const { model, sampling, system } = options;
    this.#options = options;
    this.#request = new ChatRequest(model, sampling, { logprobs: true });
    this.#endpoint = new ChatEndpoint(options, send);
    this.identity = { kind: "openai", name: model, endpoint: this.#endpoint.url };
    this.prompt = {
      form: "chat messages",
      system_sha256: system === undefined ? null : fingerprint(system),
    };
    this.sampling = sampling;
  }

  sample(
    requests: Iterable<SampleRequest>,
  ): AsyncGenerator<readonly [SampleRequest, SampledCompletion]> {
    const limit = this.#options.concurrency ?? CONCURRENCY;
    return pooled(requests, { limit, graceMs: GRACE_MS }, async (ask, stop) => {
      const answer = await this.#endpoint.answer(this.#request, this.#askOf(ask), stop);
      if ("error" in answer) throw answer.error;
      const { calls: _calls, ...sampled } = answer;
      return sampled;
    });
  }

  /** Plays environments by chat messages, with native calls of the tools. */
  actor(tools: readonly Tool[]): EndpointActor {
    const { concurrency = CONCURRENCY, system } = this.#options;
    return new EndpointActor({
      ...{ concurrency, system },
      answer: async (asked, stop) => {
        const [, , task] = asked.address; // After the seed and the word "episode".
        const ask = { ...asked, tools, id: String(task) };
        const found = await this.#endpoint.answer(this.#request, ask, stop);
        if (!("error" in found)) return found;
        if (found.everywhere) throw found.error;
        return { type: "endpoint_error", error: found.error } satisfies NoReply;
      },
    });
  }

  async close(): Promise<void> {}

  #askOf({ example, sample }: SampleRequest): ChatAsk {
    const { system } = this.#options;
    const first: ChatMessage[] = system === undefined ? [] : [{ role: "system", content: system }];
    return {
      messages: [...first, { role: "user", content: example.prompt }],
      tools: [],
      address: [this.sampling.seed, "rollout", example.id, sample],
      id: example.id,
    };
  }
}
