/** Starts an app, on 127.0.0.1 unless told otherwise, and stops it gracefully. */

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { getRequestListener, RequestError } from "@hono/node-server";
import { ioError, usageError } from "../core/errors.ts";
import { type App, createApp } from "./app.ts";
import { badRequest, type ErrorHandling, errorResponse } from "./errors.ts";
import type { RunningServer } from "./running-server.ts";

export interface HttpServerOptions extends ErrorHandling {
  /** 0 takes a free one. */
  readonly port: number;
  /** An address of this machine; one that is not loopback is for servers that ask for a token. */
  readonly host?: string | undefined;
  readonly addRoutes: (app: App) => void;
  /** Takes over the connections that ask for another protocol, such as a WebSocket. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Refuses new work, and aborts what is not done within `graceMs`. */
  readonly stop?: (graceMs: number) => Promise<void>;
}

const LOOPBACK = "127.0.0.1";

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Together less than a second. */
const GRACE_MS = 600;
const FLUSH_MS = 200;

export async function startHttpServer(options: HttpServerOptions): Promise<RunningServer> {
  const { host = LOOPBACK } = options;
  const app = createApp({ ...options, anyHost: !isLoopback(host) });
  options.addRoutes(app);
  const listener = getRequestListener(app.fetch, {
    // A library must not replace the global Request and Response of the program that uses it.
    overrideGlobalObjects: false,
    errorHandler: (error) => errorResponse(malformed(error), options),
  });
  const server = createServer((request, response) => void listener(request, response));
  if (options.onUpgrade) server.on("upgrade", options.onUpgrade);
  const port = await listen(server, options.port, host);
  const shown = host.includes(":") ? `[${host}]` : host;
  return { port, url: `http://${shown}:${port}`, close: () => close(server, options.stop) };
}

function malformed(error: unknown): unknown {
  return error instanceof RequestError
    ? badRequest("the request's address or Host header is malformed")
    : error;
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(notListening(error, port, host)));
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

function notListening(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const next = "Choose another with --port; --port 0 takes a free one.";
  if (error.code === "EADDRINUSE") return usageError(`port ${port} is in use already`, next);
  if (error.code === "EACCES") {
    return usageError(`this user may not listen on port ${port}`, next);
  }
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND")
    return usageError(`${host} is no address of this machine`, "Choose another with --host.");
  return ioError(`listen on ${host}:${port}`, error);
}

async function close(server: Server, stop: HttpServerOptions["stop"]): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  await stop?.(GRACE_MS);
  await Promise.race([closed, sleep(FLUSH_MS)]);
  server.closeAllConnections();
  await closed;
}
