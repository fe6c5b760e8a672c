/** Listens on this machine, and on nothing else. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { getRequestListener, RequestError } from "@hono/node-server";
import { ioError, usageError } from "../core/errors.ts";
import type { EmbeddedPolicy } from "../policy/embedded.ts";
import { createApp } from "./app.ts";
import { apiErrorOf, invalid } from "./errors.ts";
import { Service } from "./service.ts";

export interface ServerOptions {
  /** Still its opener's to close, after the server. */
  readonly policy: EmbeddedPolicy;
  /** What requests call the policy. */
  readonly name: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Told of failures that are nobody's request; clients only hear that there was one. */
  readonly onBug?: (error: unknown) => void;
}

export interface RunningServer {
  readonly port: number;
  /** The address for a client: `http://127.0.0.1:8080/v1`. */
  readonly url: string;
  /** Within a second: finishes what it can, and cuts the rest off. */
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** Both together stay under a second. */
const GRACE_MS = 600;
const FLUSH_MS = 200;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { policy, name, onBug = () => {} } = options;
  await sampleOnce(policy);
  const service = new Service({ policy, name, created: Math.floor(Date.now() / 1000), onBug });
  const listener = getRequestListener(createApp(service, onBug).fetch, {
    // A library must not exchange the Request and Response of the program that uses it.
    overrideGlobalObjects: false,
    errorHandler: (error) =>
      (error instanceof RequestError
        ? invalid("the request's address or Host header is malformed")
        : apiErrorOf(error, onBug)
      ).response(),
  });
  const server = createServer((request, response) => void listener(request, response));
  const port = await listen(server, options.port);
  return { port, url: `http://${HOST}:${port}/v1`, close: () => close(server, service) };
}

/** An engine that is missing is told now, and not to the first client. */
async function sampleOnce(policy: EmbeddedPolicy): Promise<void> {
  const prompt = [policy.checkpoint.tokenizer.beginToken ?? 0];
  const sampling = { ...policy.sampling, max_tokens: 1 };
  await policy.generate([{ prompt, address: [0] }], { sampling });
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(notListening(error, port)));
    server.listen(port, HOST, resolve);
  });
  return (server.address() as AddressInfo).port;
}

function notListening(error: NodeJS.ErrnoException, port: number): Error {
  const next = "Choose another with --port; --port 0 takes a free one.";
  if (error.code === "EADDRINUSE") return usageError(`port ${port} is in use already`, next);
  if (error.code === "EACCES") return usageError(`port ${port} is not yours to use`, next);
  return ioError(`listen on ${HOST}:${port}`, error);
}

async function close(server: Server, service: Service): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  await service.stop(GRACE_MS);
  await Promise.race([closed, sleep(FLUSH_MS)]);
  server.closeAllConnections();
  await closed;
}
