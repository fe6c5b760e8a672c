/** OpenEnv's WebSocket: one socket is one session. */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import type { JsonObject } from "../core/json.ts";
import type { AnyDefinition } from "../environments/catalogue.ts";
import { requireSameOrigin } from "../http/app.ts";
import { answerMcp } from "./mcp.ts";
import { RefusedAction } from "./session.ts";
import type { SessionTable } from "./sessions.ts";

const MESSAGE = z.looseObject({ type: z.string(), data: z.unknown().optional() });
const LARGEST_MESSAGE = 1024 * 1024;
/** Closed by us because nothing came, or because the server stops. */
const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;

export interface SocketOptions {
  readonly definition: AnyDefinition;
  readonly sessions: SessionTable;
  readonly maxSessions: number;
  readonly onBug: (error: unknown) => void;
}

export class Sockets {
  readonly #options: SocketOptions;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: LARGEST_MESSAGE });

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** Takes over a connection, if it is for a socket of ours and from this machine's own pages. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A client that is gone must not end the server; until now Node listened for it.
    socket.on("error", () => socket.destroy());
    // As it was sent: not every target is a URL.
    const [pathname = ""] = (request.url ?? "").split("?", 1);
    const port = request.socket.localPort ?? 0;
    const status =
      pathname !== "/ws" && pathname !== "/mcp" ? "404 Not Found" : refusal(request, port);
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (client) => this.#serve(client, pathname));
  }

  close(): void {
    for (const client of this.#server.clients) client.close(GOING_AWAY, "the server stops");
    this.#server.close();
  }

  #serve(client: WebSocket, pathname: string): void {
    const { sessions, maxSessions, onBug } = this.#options;
    client.on("error", () => client.terminate());
    if (sessions.full) {
      const more = { active_sessions: sessions.count, max_sessions: maxSessions };
      send(client, failure("CAPACITY_REACHED", "every session is in use: try again later", more));
      client.close(TRY_AGAIN_LATER);
      return;
    }
    const id = sessions.open(() => client.close(GOING_AWAY, "idle for too long"));
    client.on("close", () => sessions.close(id));
    client.on("message", (data) => {
      try {
        const answer = this.#answer(String(data), pathname, id);
        if (answer) send(client, answer);
        else client.close();
      } catch (error) {
        onBug(error);
        send(client, failure("EXECUTION_ERROR", "the server failed; its terminal shows why"));
      }
    });
  }

  /** Undefined when the client asked to close. */
  #answer(text: string, pathname: string, id: string): JsonObject | undefined {
    const body = parsed(text);
    if (body === undefined) return failure("INVALID_JSON", "the message is not JSON");
    if (pathname === "/mcp") return this.#mcp(body, id);
    const message = MESSAGE.safeParse(body);
    if (!message.success) return failure("VALIDATION_ERROR", "a message has a type and data");
    const { type, data } = message.data;
    try {
      const session = this.#options.sessions.find(id);
      if (type === "reset") return observed(session.reset(data));
      if (type === "step") return observed(session.step(data));
      if (type === "state") return { type, data: session.state() };
      if (type === "mcp") return { type, data: this.#mcp(data, id) };
      if (type === "close") return undefined;
      return failure("UNKNOWN_TYPE", `there is no message of type ${type}`);
    } catch (error) {
      return refused(error);
    }
  }

  #mcp(body: unknown, own: string): JsonObject {
    const { sessions, definition } = this.#options;
    return answerMcp(body, definition, {
      create: () => own,
      find: (id) => sessions.find(id ?? own),
      close: (id) => sessions.close(id),
    });
  }
}

function refusal({ headers }: IncomingMessage, port: number): string | undefined {
  try {
    requireSameOrigin({ host: headers.host, origin: headers.origin }, port);
    return undefined;
  } catch {
    return "403 Forbidden";
  }
}

function observed(reply: object): JsonObject {
  return { type: "observation", data: withMetadata(reply) };
}

/** Metadata is sent inside of the observation as well, where older clients look for it. */
export function withMetadata(reply: object): JsonObject {
  const { observation, metadata } = reply as { observation: JsonObject; metadata?: JsonObject };
  const inside = metadata ? { ...observation, metadata } : observation;
  return { ...(reply as JsonObject), observation: inside };
}

function refused(error: unknown): JsonObject {
  if (error instanceof z.ZodError) {
    const errors = error.issues.map(({ path, message }) => ({ path: path.map(String), message }));
    return failure("VALIDATION_ERROR", "the message does not have the right fields", { errors });
  }
  if (error instanceof RefusedAction) return failure("EXECUTION_ERROR", error.message);
  throw error;
}

function failure(code: string, message: string, more: JsonObject = {}): JsonObject {
  return { type: "error", data: { message, code, ...more } };
}

function send(client: WebSocket, message: JsonObject): void {
  client.send(JSON.stringify(message));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
