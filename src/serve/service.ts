/** Answers requests with one policy, one after the other. */

import { randomUUID } from "node:crypto";
import { isFields } from "../core/records.ts";
import { HttpError, httpErrorOf } from "../http/errors.ts";
import { openAiError } from "../http/openai-error.ts";
import { Queue } from "../http/queue.ts";
import { eventStream } from "../http/sse.ts";
import type { Checkpoint } from "../policy/checkpoint.ts";
import type { EmbeddedPolicy } from "../policy/embedded.ts";
import type { PolicyTokenizer } from "../policy/tokenizer.ts";
import { type ChoiceDelta, joinDeltas, sampleChoices, usageOf } from "./choices.ts";
import type { CompletionRequest } from "./request.ts";
import type { PlacedToken } from "./streaming-text.ts";

/** How the requests of an endpoint are read, and its responses written. */
export interface Endpoint {
  readonly idPrefix: string;
  readonly object: string;
  readonly chunkObject: string;
  /** What a stream sends before the first token of a choice, if anything. */
  readonly opening?: object;
  read(body: unknown, checkpoint: Checkpoint): CompletionRequest;
  /** The field with the text of a whole choice, and of its next part in a stream. */
  whole(text: string): object;
  part(text: string): object;
  logprobs(tokenizer: PolicyTokenizer, tokens: readonly PlacedToken[]): object;
}

const now = () => Math.floor(Date.now() / 1000);

export class Service {
  readonly model: object;
  readonly #policy: EmbeddedPolicy;
  readonly #name: string;
  readonly #onBug: (error: unknown) => void;
  /** There is one decoder. */
  readonly #queue = new Queue();

  constructor(policy: EmbeddedPolicy, name: string, onBug: (error: unknown) => void) {
    this.model = { id: name, object: "model", created: now(), owned_by: "lockedroom" };
    this.#policy = policy;
    this.#name = name;
    this.#onBug = onBug;
  }

  requireModel(name: string): void {
    if (name === this.#name) return;
    throw new HttpError(404, `there is no model "${name}"; this server has "${this.#name}"`, {
      param: "model",
      code: "model_not_found",
    });
  }

  /** `client` is aborted when the client disconnects. */
  async answer(endpoint: Endpoint, body: unknown, client: AbortController): Promise<Response> {
    if (isFields(body) && typeof body.model === "string") this.requireModel(body.model);
    const request = endpoint.read(body, this.#policy.checkpoint);
    if (!request.stream) {
      return this.#queue.add((signal) => this.#complete(endpoint, request, signal), client);
    }
    return eventStream(
      (send) => this.#queue.add((signal) => this.#stream(endpoint, request, signal, send), client),
      (error) => openAiError(httpErrorOf(error, { onBug: this.#onBug })),
    );
  }

  /** Accepts nothing new, and aborts what is not done within `graceMs`. */
  stop(graceMs: number): Promise<void> {
    return this.#queue.stop(graceMs);
  }

  async #complete(
    endpoint: Endpoint,
    request: CompletionRequest,
    signal: AbortSignal,
  ): Promise<Response> {
    const deltas: ChoiceDelta[] = [];
    for await (const delta of sampleChoices(this.#policy, request, signal)) deltas.push(delta);
    const choices = joinDeltas(deltas).map((choice) =>
      this.#choice(endpoint, request, choice, endpoint.whole(choice.text)),
    );
    const sampled = deltas.reduce((sum, { tokens }) => sum + tokens.length, 0);
    const usage = usageOf(request, sampled);
    return Response.json({ ...this.#head(endpoint, endpoint.object), choices, usage });
  }

  async #stream(
    endpoint: Endpoint,
    request: CompletionRequest,
    signal: AbortSignal,
    send: (value: unknown) => void,
  ): Promise<void> {
    const head = this.#head(endpoint, endpoint.chunkObject);
    const noUsage = request.includeUsage ? { usage: null } : {};
    const sendChoice = (choice: object) => send({ ...head, choices: [choice], ...noUsage });
    const { opening } = endpoint;
    for (let index = 0; opening && index < request.n * request.prompts.length; index++) {
      sendChoice({ index, ...opening, logprobs: null, finish_reason: null });
    }
    let sampled = 0;
    for await (const delta of sampleChoices(this.#policy, request, signal)) {
      sampled += delta.tokens.length;
      sendChoice(this.#choice(endpoint, request, delta, endpoint.part(delta.text)));
    }
    if (request.includeUsage) send({ ...head, choices: [], usage: usageOf(request, sampled) });
    send("[DONE]");
  }

  #choice(
    endpoint: Endpoint,
    { alternatives }: CompletionRequest,
    { index, tokens, finish }: ChoiceDelta,
    text: object,
  ): object {
    const { tokenizer } = this.#policy.checkpoint;
    const logprobs = alternatives === null ? null : endpoint.logprobs(tokenizer, tokens);
    return { index, ...text, logprobs, finish_reason: finish };
  }

  #head({ idPrefix }: Endpoint, object: string): object {
    return {
      id: idPrefix + randomUUID().replaceAll("-", ""),
      object,
      created: now(),
      model: this.#name,
      system_fingerprint: this.#policy.checkpoint.fingerprint,
    };
  }
}
