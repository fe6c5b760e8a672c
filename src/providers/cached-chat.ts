/** Asks a judge, or takes the answer that the cache has for the whole request. */

import { fingerprint } from "../core/fingerprint.ts";
import type { JudgeTraffic } from "../core/judge.ts";
import { type SamplingSettings, toAnswer } from "../core/policy.ts";
import type { JudgeAnswer, JudgeCache } from "../runs/judge-cache.ts";
import type { ChatEndpoint, FinalFailure } from "./chat-endpoint.ts";
import { type ChatAsk, ChatRequest } from "./chat-request.ts";
import type { Stop } from "./pooled.ts";

export interface CachedChatOptions {
  readonly endpoint: ChatEndpoint;
  readonly model: string;
  readonly sampling: SamplingSettings;
  readonly cache?: JudgeCache | undefined;
  /** What the answers depend on besides the request: the endpoint. */
  readonly scope: string;
}

type Asked = Promise<JudgeAnswer | FinalFailure>;

export class CachedChat {
  readonly #options: CachedChatOptions;
  readonly #request: ChatRequest;
  /**
   * The request with all of its parameters is what the cache goes by: whether the endpoint takes them
   * all is only known after asking.
   */
  readonly #whole: ChatRequest;
  readonly #underWay = new Map<string, Asked>();
  #fromCache = 0;

  constructor(options: CachedChatOptions) {
    this.#options = options;
    this.#request = new ChatRequest(options.model, options.sampling, { logprobs: false });
    this.#whole = new ChatRequest(options.model, options.sampling, { logprobs: false });
  }

  get traffic(): JudgeTraffic {
    return { requests: this.#options.endpoint.sent, from_cache: this.#fromCache };
  }

  answer(ask: ChatAsk, stop: Stop): Asked {
    const { cache, scope } = this.#options;
    if (!cache) return this.#ask(ask, stop);
    const key = fingerprint({ endpoint: scope, body: this.#whole.body(ask) });
    const same = this.#underWay.get(key);
    if (same) return same;
    const asked = this.#lookUp(cache, key, ask, stop).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, asked);
    return asked;
  }

  async #lookUp(cache: JudgeCache, key: string, ask: ChatAsk, stop: Stop): Asked {
    const known = await cache.read(key);
    if (known) {
      this.#fromCache++;
      return known;
    }
    const found = await this.#ask(ask, stop);
    return "error" in found ? found : cache.keep(key, found);
  }

  async #ask(ask: ChatAsk, stop: Stop): Asked {
    const found = await this.#options.endpoint.answer(this.#request, ask, stop);
    if ("error" in found) return found;
    const { completion, finish, prompt_tokens, completion_tokens, refusal } = toAnswer(found);
    const said = { completion, finish, prompt_tokens, completion_tokens };
    return refusal === undefined ? said : { ...said, refusal };
  }
}
