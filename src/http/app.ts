/** A Hono app with the origin check and the error handling that every local server needs. */

import { type Context, Hono } from "hono";
import { clientGone, type ErrorHandling, errorResponse, HttpError } from "./errors.ts";

/** What is used of Node's request and response; their own types would need @types/node of every user. */
interface Bindings {
  readonly incoming: { readonly socket: { readonly localPort?: number | undefined } };
  readonly outgoing: {
    readonly writableFinished: boolean;
    readonly closed: boolean;
    once(event: "close", listener: () => void): unknown;
  };
}

type Env = { Bindings: Bindings };
export type App = Hono<Env>;
export type RequestContext = Context<Env>;
export type Handler = (c: RequestContext) => Response | Promise<Response>;
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface AppOptions extends ErrorHandling {
  /** Reached under other names than this machine's own; only for a server that asks for a token. */
  readonly anyHost?: boolean;
}

export function createApp(options: AppOptions): App {
  const app = new Hono<Env>();
  app.onError((error) => errorResponse(error, options));
  app.notFound(({ req }) => {
    throw new HttpError(404, `there is no ${req.method} ${req.path} here`, { code: "unknown_url" });
  });
  app.use(async (c, next) => {
    const [host, origin] = ["host", "origin"].map((name) => c.req.header(name));
    if (options.anyHost) requireOwnOrigin(host, origin);
    else requireSameOrigin({ host, origin }, c.env.incoming.socket.localPort ?? 0);
    await next();
  });
  return app;
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Blocks requests from web pages of other origins. A page can make a browser on this machine send
 * requests here: under a host name that resolves to 127.0.0.1 (DNS rebinding), or directly, in which
 * case the Origin header shows it. No CORS header is ever sent.
 */
export function requireSameOrigin(
  {
    host = "",
    origin,
  }: { readonly host?: string | undefined; readonly origin?: string | undefined },
  port: number,
): void {
  if (!LOOPBACK.includes(host.toLowerCase().replace(/:\d*$/, ""))) {
    throw new HttpError(403, "the Host must be 127.0.0.1, localhost or [::1]", {
      code: "host_not_allowed",
    });
  }
  if (origin === undefined || LOOPBACK.some((name) => origin === `http://${name}:${port}`)) return;
  throw otherOrigin();
}

/** For a server under any name: a page of another origin is refused even if it had the token. */
function requireOwnOrigin(host: string | undefined, origin: string | undefined): void {
  if (origin === undefined || /^https?:\/\/(.*)$/.exec(origin)?.[1] === host) return;
  throw otherOrigin();
}

const otherOrigin = () =>
  new HttpError(403, "requests from web pages of another origin are refused", {
    code: "origin_not_allowed",
  });

/** Adds a path with a handler for each method; other methods get a 405. */
export function addRoute(app: App, path: string, methods: Partial<Record<Method, Handler>>): void {
  for (const [method, handler] of Object.entries(methods)) app.on(method, path, handler);
  const allow = Object.keys(methods).join(", ");
  app.all(path, ({ req }) => {
    throw new HttpError(405, `${req.path} takes ${allow}, not ${req.method}`, {
      code: "method_not_allowed",
      headers: { allow },
    });
  });
}

/** A controller that is aborted when the client disconnects before the response is complete. */
export function abortOnDisconnect(c: RequestContext): AbortController {
  const { outgoing } = c.env;
  const request = new AbortController();
  const close = () => outgoing.writableFinished || request.abort(clientGone());
  if (outgoing.closed) close();
  else outgoing.once("close", close);
  return request;
}
