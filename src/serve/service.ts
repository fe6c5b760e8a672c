/** Answers requests with one policy, one after the other. */

import { randomUUID } from "node:crypto";
import { isFields } from "../core/records.ts";
import { HttpError, httpErrorOf } from "../http/errors.ts";
import { Queue } from "../http/queue.ts";
import { eventStream } from "../http/sse.ts";
import type { EmbeddedPolicy } from "../policy/embedded.ts";
import { type ChoiceDelta, joinDeltas, sampleChoices, usageOf } from "./choices.ts";
import type { Endpoint } from "./endpoint.ts";
import { openAiError } from "./errors.ts";
import type { CompletionRequest } from "./request.ts";

export interface ServiceOptions {
  readonly policy: EmbeddedPolicy;
  /** The name of the model in requests. */
  readonly name: string;
  /** When the policy was made available, in seconds since 1970. */
  readonly created: number;
  /** Called with internal errors. */
  readonly onBug: (error: unknown) => void;
}

export class Service {
  readonly name: string;
  readonly #options: ServiceOptions;
  /** There is one decoder. */
  readonly #queue = new Queue();

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.name = options.name;
  }

  get model(): object {
    const { name: id, created } = this.#options;
    return { id, object: "model", created, owned_by: "lockedroom" };
  }

  requireModel(name: string): void {
    if (name === this.name) return;
    throw new HttpError(404, `there is no model "${name}"; this server has "${this.name}"`, {
      param: "model",
      code: "model_not_found",
    });
  }

  /** `client` is aborted when the client disconnects. */
  async answer(endpoint: Endpoint, body: unknown, client: AbortController): Promise<Response> {
    if (isFields(body) && typeof body.model === "string") this.requireModel(body.model);
    const request = endpoint.read(body, this.#options.policy.checkpoint);
    if (!request.stream) {
      return this.#queue.add((signal) => this.#complete(endpoint, request, signal), client);
    }
    return eventStream(
      (send) => this.#queue.add((signal) => this.#stream(endpoint, request, signal, send), client),
      (error) => openAiError(httpErrorOf(error, this.#options)),
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
    for await (const delta of sampleChoices(this.#options.policy, request, signal)) {
      deltas.push(delta);
    }
    const format = this.#format(request);
    const choices = joinDeltas(deltas).map((choice) => endpoint.choice(choice, format));
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
    const format = this.#format(request);
    const noUsage = request.includeUsage ? { usage: null } : {};
    const sendChoice = (choice: object) => send({ ...head, choices: [choice], ...noUsage });
    for (let index = 0; index < request.n * request.prompts.length; index++) {
      const opening = endpoint.opening(index);
      if (opening) sendChoice(opening);
    }
    let sampled = 0;
    for await (const delta of sampleChoices(this.#options.policy, request, signal)) {
      sampled += delta.tokens.length;
      sendChoice(endpoint.delta(delta, format));
    }
    if (request.includeUsage) send({ ...head, choices: [], usage: usageOf(request, sampled) });
    send("[DONE]");
  }

  #format({ alternatives }: CompletionRequest) {
    const { tokenizer } = this.#options.policy.checkpoint;
    return { tokenizer, logprobs: alternatives !== null };
  }

  #head({ idPrefix }: Endpoint, object: string): object {
    return {
      id: idPrefix + randomUUID().replaceAll("-", ""),
      object,
      created: Math.floor(Date.now() / 1000),
      model: this.name,
      system_fingerprint: this.#options.policy.checkpoint.fingerprint,
    };
  }
}
