/**
 * A model behind an OpenAI-compatible endpoint as a policy: concurrent chat completion requests with
 * retries after temporary errors. Left out: streaming, images, and `n` of the API (each sample
 * is a request with its own seed, so that an interruption loses only the requests in flight).
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { ActingPolicy, NoReply } from "../core/actor.ts";
import type { Tool } from "../core/environment.ts";
import { LockedRoomError } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import type { SampledCompletion, SampleRequest, SamplingSettings } from "../core/policy.ts";
import { visibleShort } from "../core/visible.ts";
import { type ChatAnswer, readChatAnswer } from "./chat-answer.ts";
import { type ChatAsk, type ChatMessage, ChatRequest } from "./chat-request.ts";
import { EndpointActor } from "./endpoint-actor.ts";
import { baseUrl, connect, type Endpoint, type Send } from "./openai-client.ts";
import { pooled, type Stop } from "./pooled.ts";
import { backoffMs, type Failure, failureOf } from "./retry.ts";
import { hider } from "./secrets.ts";

export interface OpenAiOptions extends Endpoint {
  readonly model: string;
  readonly sampling: SamplingSettings;
  readonly system?: string | undefined;
  /** Requests in flight at once. */
  readonly concurrency?: number | undefined;
  /** Secrets besides the key, such as headers of a gateway; they are redacted everywhere. */
  readonly secrets?: readonly string[] | undefined;
  /** Limit for one request. */
  readonly timeoutMs?: number | undefined;
  /** Attempts for one request before the run stops. */
  readonly attempts?: number | undefined;
  /** Delay before the first retry; it doubles with each one. */
  readonly backoffMs?: number | undefined;
  /** Called once for each parameter that the endpoint does not support. */
  readonly onNotice?: ((text: string) => void) | undefined;
}

const CONCURRENCY = 8;
/** Slightly below the time limit of the runtime. */
const TIMEOUT_MS = 290_000;
const ATTEMPTS = 8;
const FIRST_WAIT_MS = 500;
/** Longer waits end the run, so that the user decides. */
const LONGEST_WAIT_MS = 300_000;
const GRACE_MS = 10_000;

/** A request that failed for good; `everywhere` means that the next ones would, too. */
interface FinalFailure {
  readonly error: LockedRoomError;
  readonly everywhere: boolean;
}

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
  readonly #send: Send;
  readonly #request: ChatRequest;
  readonly #hide: (text: string) => string;
  readonly #endpoint: string;
  /** Whether the endpoint ever answered: until then, a refused connection means a wrong URL. */
  #reached = false;

  constructor(options: OpenAiOptions, send: Send) {
    const { model, sampling, system } = options;
    this.#options = options;
    this.#send = send;
    this.#request = new ChatRequest(model, sampling);
    this.#hide = hider([options.apiKey, ...(options.secrets ?? [])]);
    this.#endpoint = this.#hide(baseUrl(options.baseUrl));
    this.identity = { kind: "openai", name: model, endpoint: this.#endpoint };
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
      const answer = await this.#answer(this.#askOf(ask), stop);
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
        const found = await this.#answer({ ...asked, tools, id: String(task) }, stop);
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

  async #answer(ask: ChatAsk, stop: Stop): Promise<ChatAnswer | FinalFailure> {
    for (let tries = 1; ; ) {
      const body = this.#request.body(ask);
      const found = await this.#try(body, stop.now);
      if ("said" in found) return found.said;
      stop.soon.throwIfAborted();
      const { failure } = found;
      if (this.#request.adapt(body, failure, this.#options.onNotice ?? (() => {}))) continue;
      if (this.#isFinal(failure, tries)) {
        return {
          error: this.#sentence(failure, tries, ask),
          everywhere: this.#isEverywhere(failure),
        };
      }
      await sleep(this.#waitMs(failure, tries, ask), undefined, { signal: stop.soon });
      tries++;
    }
  }

  /** One request with a time limit for the complete response. */
  async #try(body: object, now: AbortSignal): Promise<{ said: ChatAnswer } | { failure: Failure }> {
    const limit = new AbortController();
    const end = () => limit.abort();
    const timer = setTimeout(end, this.#options.timeoutMs ?? TIMEOUT_MS);
    now.addEventListener("abort", end, { once: true });
    try {
      const began = performance.now();
      const said = readChatAnswer(await this.#send(body, limit.signal));
      this.#reached = true;
      return { said: { ...this.#withoutKeys(said), ms: performance.now() - began } };
    } catch (error) {
      const failure = failureOf(error, limit.signal.aborted, Date.now());
      this.#reached ||= failure.status !== undefined;
      return { failure };
    } finally {
      clearTimeout(timer);
      now.removeEventListener("abort", end);
    }
  }

  #withoutKeys(said: ChatAnswer): ChatAnswer {
    const { completion, refusal, finish_reason: reason } = said;
    return {
      ...said,
      completion: this.#hide(completion),
      calls: said.calls.map((call) => ({
        id: this.#hide(call.id),
        name: this.#hide(call.name),
        arguments: this.#hide(call.arguments),
      })),
      ...(refusal !== undefined && { refusal: this.#hide(refusal) }),
      ...(reason !== undefined && { finish_reason: this.#hide(reason) }),
    };
  }

  #isFinal({ temporary, unreachable, waitMs = 0 }: Failure, tries: number): boolean {
    if (!temporary || waitMs > LONGEST_WAIT_MS || (unreachable && !this.#reached)) return true;
    return tries >= (this.#options.attempts ?? ATTEMPTS);
  }

  /** A key, a model or a budget that does not work now works for no other request. */
  #isEverywhere({ status, unreachable, temporary }: Failure): boolean {
    if (status === undefined) return unreachable && !this.#reached;
    return !temporary && [401, 402, 403, 404, 429].includes(status);
  }

  #waitMs({ waitMs = 0 }: Failure, tries: number, { address }: ChatAsk): number {
    const first = this.#options.backoffMs ?? FIRST_WAIT_MS;
    return Math.max(waitMs, backoffMs(first, tries - 1, ...address));
  }

  /** Keys are redacted before the text is shortened. Without `cause`, which could contain them. */
  #sentence(
    { status, message, temporary, waitMs = 0 }: Failure,
    tries: number,
    ask: ChatAsk,
  ): LockedRoomError {
    const what = status === undefined ? "did not answer" : `answered with status ${status}`;
    const often = tries > 1 ? `, after ${tries} attempts` : "";
    const said = visibleShort(this.#hide(message), 300);
    const id = visibleShort(JSON.stringify(ask.id), 60);
    const wait = waitMs > LONGEST_WAIT_MS ? `, and asks to wait ${Math.ceil(waitMs / 1000)} s` : "";
    return new LockedRoomError(
      temporary ? "io" : "usage",
      `${this.#endpoint} ${what} for example ${id}${often}: ${said}${wait}`,
      { hint: hintFor(status, temporary) },
    );
  }
}

function hintFor(status: number | undefined, temporary: boolean): string {
  if (status === 401 || status === 403) return "Check OPENAI_API_KEY and its permissions.";
  if (status === 404) return "Check the name of the model and OPENAI_BASE_URL.";
  if (temporary) return "Check OPENAI_BASE_URL and the endpoint, or try again later.";
  return "Fix the cause that the endpoint reports, then run the command again.";
}
