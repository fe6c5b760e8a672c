/** A Hono app with the origin check and the error handling that every local server needs. */

import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { clientGone, type ErrorHandling, errorResponse, HttpError } from "./errors.ts";
import { requireSameOrigin } from "./guard.ts";

type Env = { Bindings: HttpBindings };
export type App = Hono<Env>;
export type RequestContext = Context<Env>;
export type Handler = (c: RequestContext) => Response | Promise<Response>;
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export function createApp(errors: ErrorHandling): App {
  const app = new Hono<Env>();
  app.onError((error) => errorResponse(error, errors));
  app.notFound(({ req }) => {
    throw new HttpError(404, `there is no ${req.method} ${req.path} here`, { code: "unknown_url" });
  });
  app.use(async (c, next) => {
    requireSameOrigin(c.req.raw.headers, c.env.incoming.socket.localPort ?? 0);
    await next();
  });
  return app;
}

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
