/** Answers requests, one after the other, with one policy. */

import { randomUUID } from "node:crypto";
import { isFields } from "../core/records.ts";
import type { EmbeddedPolicy } from "../policy/embedded.ts";
import { gathered, type Piece, piecesOf, usageOf } from "./answer.ts";
import type { Asked } from "./asked.ts";
import type { Endpoint } from "./endpoint.ts";
import { ApiError, apiErrorOf } from "./errors.ts";
import { eventStream } from "./events.ts";
import { Queue } from "./queue.ts";

export interface ServiceOptions {
  readonly policy: EmbeddedPolicy;
  /** What requests call the policy. */
  readonly name: string;
  /** When the policy was made available, in seconds since 1970. */
  readonly created: number;
  /** Told of failures that are nobody's request. */
  readonly onBug: (error: unknown) => void;
}

const stopping = () => new ApiError(503, "the server is stopping", { code: "server_stopping" });

export class Service {
  readonly name: string;
  readonly #options: ServiceOptions;
  readonly #queue = new Queue();
  readonly #cut = new AbortController();
  #stopping = false;

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
    throw new ApiError(404, `there is no model "${name}"; this server has "${this.name}"`, {
      param: "model",
      code: "model_not_found",
    });
  }

  /** `gone` says that the client no longer waits. */
  async answer(endpoint: Endpoint, body: unknown, gone: AbortSignal): Promise<Response> {
    if (this.#stopping) throw stopping();
    if (isFields(body) && typeof body.model === "string") this.requireModel(body.model);
    const asked = endpoint.read(body, this.#options.policy.checkpoint);
    const goOn = () => {
      gone.throwIfAborted();
      this.#cut.signal.throwIfAborted();
    };
    return asked.stream
      ? this.#stream(endpoint, asked, goOn)
      : this.#queue.add(() => this.#whole(endpoint, asked, goOn));
  }

  /** Takes nothing new, gives what there is some time, then cuts it off. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const timer = setTimeout(() => this.#cut.abort(stopping()), graceMs);
    await this.#queue.idle();
    clearTimeout(timer);
  }

  async #whole(endpoint: Endpoint, asked: Asked, goOn: () => void): Promise<Response> {
    const { policy } = this.#options;
    const pieces: Piece[] = [];
    for await (const piece of piecesOf(policy, asked, goOn)) pieces.push(piece);
    const writing = this.#writing(asked);
    const choices = gathered(pieces).map((piece) => endpoint.choice(piece, writing));
    const usage = usageOf(asked, tokensIn(pieces));
    return Response.json({ ...this.#head(endpoint, endpoint.object), choices, usage });
  }

  #stream(endpoint: Endpoint, asked: Asked, goOn: () => void): Response {
    return eventStream((send) =>
      this.#queue.add(async () => {
        try {
          await this.#send(endpoint, asked, goOn, send);
        } catch (error) {
          send(apiErrorOf(error, this.#options.onBug).body);
        }
      }),
    );
  }

  async #send(
    endpoint: Endpoint,
    asked: Asked,
    goOn: () => void,
    send: (value: unknown) => void,
  ): Promise<void> {
    const head = this.#head(endpoint, endpoint.chunkObject);
    const writing = this.#writing(asked);
    const nothingYet = asked.includeUsage ? { usage: null } : {};
    const sendChoice = (choice: object) => send({ ...head, choices: [choice], ...nothingYet });
    for (let index = 0; index < asked.n * asked.prompts.length; index++) {
      const opening = endpoint.opening(index);
      if (opening) sendChoice(opening);
    }
    let sampled = 0;
    for await (const piece of piecesOf(this.#options.policy, asked, goOn)) {
      sampled += piece.tokens.length;
      sendChoice(endpoint.part(piece, writing));
    }
    if (asked.includeUsage) send({ ...head, choices: [], usage: usageOf(asked, sampled) });
    send("[DONE]");
  }

  #writing({ alternatives }: Asked) {
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

const tokensIn = (pieces: readonly Piece[]) =>
  pieces.reduce((sum, { tokens }) => sum + tokens.length, 0);
