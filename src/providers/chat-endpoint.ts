/**
 * One chat request to an endpoint: a time limit, retries after temporary errors, parameters that the
 * endpoint does not take left out, and keys redacted from everything that comes back.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { LockedRoomError } from "../core/errors.ts";
import { visibleShort } from "../core/visible.ts";
import { type ChatAnswer, readChatAnswer } from "./chat-answer.ts";
import type { ChatAsk, ChatRequest } from "./chat-request.ts";
import { baseUrl, type Endpoint, type Send, variablesOf } from "./endpoint.ts";
import type { Stop } from "./pooled.ts";
import { backoffMs, type Failure, failureOf } from "./retry.ts";
import { hider } from "./secrets.ts";

export interface ChatEndpointOptions extends Endpoint {
  /** What messages call it in place of its URL, where the URL means nothing. */
  readonly called?: string | undefined;
  /** Secrets besides the key, such as headers of a gateway; they are redacted everywhere. */
  readonly secrets?: readonly string[] | undefined;
  /** Limit for one request. */
  readonly timeoutMs?: number | undefined;
  /** Attempts for one request before it has failed. */
  readonly attempts?: number | undefined;
  /** Delay before the first retry; it doubles with each one. */
  readonly backoffMs?: number | undefined;
  /** Called once for each parameter that the endpoint does not support. */
  readonly onNotice?: ((text: string) => void) | undefined;
}

/** Slightly below the time limit of the runtime. */
const TIMEOUT_MS = 290_000;
const ATTEMPTS = 8;
const FIRST_WAIT_MS = 500;
/** Longer waits end the run, so that the user decides. */
const LONGEST_WAIT_MS = 300_000;

/** A request that failed for good; `everywhere` means that the next ones would, too. */
export interface FinalFailure {
  readonly error: LockedRoomError;
  readonly everywhere: boolean;
}

export class ChatEndpoint {
  /** To show and record; without keys. */
  readonly url: string;
  readonly hide: (text: string) => string;
  readonly #options: ChatEndpointOptions;
  readonly #send: Send;
  /** Whether the endpoint ever answered: until then, a refused connection means a wrong URL. */
  #reached = false;
  #sent = 0;

  constructor(options: ChatEndpointOptions, send: Send) {
    this.#options = options;
    this.#send = send;
    this.hide = hider([options.apiKey, ...(options.secrets ?? [])]);
    this.url = this.hide(baseUrl(options));
  }

  /** How many requests were sent, retries included. */
  get sent(): number {
    return this.#sent;
  }

  async answer(request: ChatRequest, ask: ChatAsk, stop: Stop): Promise<ChatAnswer | FinalFailure> {
    for (let tries = 1; ; ) {
      const body = request.body(ask);
      const found = await this.#try(body, stop.now);
      if ("said" in found) return found.said;
      stop.soon.throwIfAborted();
      const { failure } = found;
      if (request.adapt(body, failure, this.#options.onNotice ?? (() => {}))) continue;
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
    this.#sent++;
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
      completion: this.hide(completion),
      calls: said.calls.map((call) => ({
        id: this.hide(call.id),
        name: this.hide(call.name),
        arguments: this.hide(call.arguments),
      })),
      ...(refusal !== undefined && { refusal: this.hide(refusal) }),
      ...(reason !== undefined && { finish_reason: this.hide(reason) }),
    };
  }

  #isFinal({ temporary, unreachable, waitMs = 0 }: Failure, tries: number): boolean {
    if (!temporary || waitMs > LONGEST_WAIT_MS || (unreachable && !this.#reached)) return true;
    return tries >= (this.#options.attempts ?? ATTEMPTS);
  }

  /** A key, a model or a budget that does not work now works for no other request. */
  #isEverywhere({ status, unreachable, temporary }: Failure): boolean {
    if (status === undefined) return unreachable && !this.#reached;
    return !temporary && (isRedirect(status) || [401, 402, 403, 404, 429].includes(status));
  }

  #waitMs({ waitMs = 0 }: Failure, tries: number, { address }: ChatAsk): number {
    const first = this.#options.backoffMs ?? FIRST_WAIT_MS;
    return Math.max(waitMs, backoffMs(first, tries - 1, ...address));
  }

  /** Keys are redacted before the text is shortened. Without `cause`, which could contain them. */
  #sentence(
    { status, message, temporary, waitMs = 0 }: Failure,
    tries: number,
    { id, what: asked = "example" }: ChatAsk,
  ): LockedRoomError {
    const what = status === undefined ? "did not answer" : `answered with status ${status}`;
    const often = tries > 1 ? `, after ${tries} attempts` : "";
    const said = visibleShort(this.hide(message), 600);
    const shownId = visibleShort(JSON.stringify(id), 60);
    const wait = waitMs > LONGEST_WAIT_MS ? `, and asks to wait ${Math.ceil(waitMs / 1000)} s` : "";
    return new LockedRoomError(
      temporary ? "io" : "usage",
      `${this.#options.called ?? this.url} ${what} for ${asked} ${shownId}${often}: ${said}${wait}`,
      { hint: this.#hintFor(status, temporary) },
    );
  }

  #hintFor(status: number | undefined, temporary: boolean): string {
    const { key, url } = variablesOf(this.#options);
    if (status === 401 || status === 403) return `Check ${key} and its permissions.`;
    if (isRedirect(status)) return `Set ${url} to the address that answers.`;
    if (status === 404) return `Check the name of the model and ${url}.`;
    if (temporary) return `Check ${url} and the endpoint, or try again later.`;
    return "Fix the cause that the endpoint reports, then run the command again.";
  }
}

const isRedirect = (status = 0) => status >= 300 && status < 400;
