/** One socket to an OpenEnv server, which is one session: a message, then its answer. */

import { WebSocket } from "ws";
import { z } from "zod";
import type { Json, JsonObject } from "../core/json.ts";
import { visibleShort } from "../core/visible.ts";
import type { RemoteAddress } from "./address.ts";
import { LARGEST_ANSWER, LARGEST_IN_WORDS, RemoteFailure } from "./remote-failure.ts";

const ANSWER = z.looseObject({ type: z.string(), data: z.unknown().optional() });
const ERROR = z
  .looseObject({ message: z.string().catch(""), code: z.string().optional().catch(undefined) })
  .catch({ message: "", code: undefined });

/** The session is not there, or is lost, after these. */
const FATAL = new Set(["CAPACITY_REACHED", "FACTORY_ERROR", "SESSION_ERROR"]);
export const CAPACITY_REACHED = "CAPACITY_REACHED";
export const VALIDATION_ERROR = "VALIDATION_ERROR";

interface Waiting {
  readonly resolve: (text: string) => void;
  readonly reject: (failure: RemoteFailure) => void;
}

export class RemoteSession {
  readonly #socket: WebSocket;
  readonly #seconds: number;
  /** What came before it was asked for: a server that is full says so at once. */
  readonly #early: string[] = [];
  #opened = false;
  #waiting: Waiting | undefined;
  #lost: RemoteFailure | undefined;

  private constructor(socket: WebSocket, seconds: number) {
    this.#socket = socket;
    this.#seconds = seconds;
    socket.on("message", (data) => this.#receive(String(data)));
    socket.on("error", (error) => this.#lose(socketProblem(error)));
    socket.on("close", (code) => {
      this.#lose(new RemoteFailure(`closed the connection before it answered (code ${code})`));
    });
  }

  /** A session that the server has really opened. */
  static async open({ url, settings }: RemoteAddress): Promise<RemoteSession> {
    const { seconds } = settings;
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`, {
      ...{ maxPayload: LARGEST_ANSWER, handshakeTimeout: seconds * 1000, perMessageDeflate: false },
    });
    const session = new RemoteSession(socket, seconds);
    await new Promise<void>((resolve) => {
      socket.once("open", resolve);
      socket.once("close", () => resolve());
    });
    try {
      await session.ask("state");
    } catch (error) {
      const { code } = error as RemoteFailure;
      // Some servers have no state before the first reset; the session is there all the same.
      if (!session.usable || code === undefined || FATAL.has(code)) {
        session.close();
        throw error;
      }
    }
    session.#opened = true;
    return session;
  }

  get usable(): boolean {
    return this.#lost === undefined;
  }

  /** The data of the answer. After a `RemoteFailure` with no code, or a fatal one, it is lost. */
  async ask(type: string, data?: Json): Promise<JsonObject> {
    const text = await this.#exchange(
      JSON.stringify(data === undefined ? { type } : { type, data }),
    );
    const answer = ANSWER.safeParse(parsed(text));
    if (!answer.success) {
      throw this.#lose(new RemoteFailure("sent something that is no JSON message"));
    }
    const found = answer.data;
    if (found.type === "error") {
      const { message, code } = ERROR.parse(found.data);
      const failure = new RemoteFailure(
        `answers ${type} with ${code ?? "an error"}: ${visibleShort(message, 200)}`,
        code ?? "EXECUTION_ERROR",
      );
      throw FATAL.has(code ?? "") ? this.#lose(failure) : failure;
    }
    if (typeof found.data !== "object" || found.data == null || Array.isArray(found.data)) {
      throw this.#lose(new RemoteFailure(`answers ${type} with no data`));
    }
    return found.data as JsonObject;
  }

  close(): void {
    this.#lose(new RemoteFailure("was left"));
  }

  #exchange(message: string): Promise<string> {
    const early = this.#early.shift();
    if (early !== undefined) return Promise.resolve(early);
    if (this.#lost) return Promise.reject(this.#lost);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#lose(new RemoteFailure(`does not answer within ${this.#seconds} s`));
      }, this.#seconds * 1000);
      const settled = <T>(then: (value: T) => void) => {
        return (value: T) => {
          clearTimeout(timer);
          this.#waiting = undefined;
          then(value);
        };
      };
      this.#waiting = { resolve: settled(resolve), reject: settled(reject) };
      this.#socket.send(message);
    });
  }

  #receive(text: string): void {
    if (this.#waiting) this.#waiting.resolve(text);
    else if (!this.#opened && this.#early.length === 0) this.#early.push(text);
    else this.#lose(new RemoteFailure("sent messages that nobody asked for"));
  }

  #lose(failure: RemoteFailure): RemoteFailure {
    this.#lost ??= failure;
    this.#waiting?.reject(this.#lost);
    this.#socket.terminate();
    return this.#lost;
  }
}

function socketProblem(error: Error): RemoteFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") {
    return new RemoteFailure(`sent a message of more than ${LARGEST_IN_WORDS}`);
  }
  return new RemoteFailure(`lost the connection: ${visibleShort(code ?? message, 120)}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
