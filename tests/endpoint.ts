/** An OpenAI-compatible endpoint on this machine, as well-behaved or as broken as a test wants it. */

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

export const KEY = "sk-locked-0123456789abcdefghij";

export interface Asked {
  readonly at: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly seed?: number;
    readonly [more: string]: unknown;
  };
  /** The last message's text. */
  readonly prompt: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** An object is sent as JSON, a string as it is. */
  readonly body?: unknown;
  readonly afterMs?: number;
  readonly after?: Promise<void>;
  /** Cut the connection, before anything was sent or in the middle of the answer. */
  readonly cut?: "before" | "middle";
}

/** What to answer to a request; undefined is a good answer. `nth` counts requests from 0. */
export type Behaviour = (asked: Asked, nth: number) => Reply | undefined;

/** A completion that depends on the prompt and the seed alone, as a good endpoint's does. */
export function completionOf({ prompt, body }: Asked): string {
  const [a = 0, b = 0] = prompt.match(/\d+/g)?.map(Number) ?? [];
  const luck = createHash("sha256").update(`${prompt} ${body.seed}`).digest()[0] ?? 0;
  return `Final: ${a + b + (luck < 64 ? 1 : 0)}`;
}

export function chat(completion: string | null, choice: object = {}, whole: object = {}): object {
  return {
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: completion },
        finish_reason: "stop",
        ...choice,
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
    ...whole,
  };
}

export const LOGPROBS = {
  content: [-0.5, -0.25, -0.125].map((logprob) => ({ token: "x", logprob })),
};

export function good(asked: Asked): object {
  return chat(completionOf(asked), asked.body.logprobs === true ? { logprobs: LOGPROBS } : {});
}

const open: (() => void)[] = [];
afterAll(() => {
  for (const close of open) close();
});

export class FakeEndpoint {
  readonly asked: Asked[] = [];
  behave: Behaviour = () => undefined;
  url = "";
  inFlight = 0;
  mostInFlight = 0;
  readonly #server = createServer((request, response) => void this.#take(request, response));

  static async start(behave?: Behaviour): Promise<FakeEndpoint> {
    const endpoint = new FakeEndpoint();
    if (behave) endpoint.behave = behave;
    await new Promise<void>((resolve) => endpoint.#server.listen(0, "127.0.0.1", resolve));
    endpoint.url = `http://127.0.0.1:${(endpoint.#server.address() as AddressInfo).port}/v1`;
    open.push(() => endpoint.stop());
    return endpoint;
  }

  get env(): Record<string, string> {
    return { OPENAI_BASE_URL: this.url, OPENAI_API_KEY: KEY };
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    response.on("close", () => this.inFlight--);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Asked["body"];
    const prompt = body.messages.at(-1)?.content ?? "";
    const asked = { at: Date.now(), headers: request.headers, body, prompt };
    this.asked.push(asked);
    const reply = this.behave(asked, this.asked.length - 1) ?? {};
    if (reply.afterMs) await new Promise((resolve) => setTimeout(resolve, reply.afterMs));
    await reply.after;
    if (reply.cut === "before") return void request.socket.destroy();
    const content =
      reply.body ?? (reply.status ? { error: { message: `status ${reply.status}` } } : good(asked));
    const text = typeof content === "string" ? content : JSON.stringify(content);
    response.writeHead(reply.status ?? 200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      ...reply.headers,
    });
    if (reply.cut !== "middle") return void response.end(text);
    response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
  }
}
