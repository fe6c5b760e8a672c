/** The routes. */

import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { readJson } from "./body.ts";
import { CHAT } from "./chat.ts";
import { COMPLETIONS } from "./completions.ts";
import type { Endpoint } from "./endpoint.ts";
import { ApiError, apiErrorOf } from "./errors.ts";
import { refuseForeign } from "./guard.ts";
import type { Service } from "./service.ts";

type Env = { Bindings: HttpBindings };

export function createApp(service: Service, onBug: (error: unknown) => void): Hono<Env> {
  const app = new Hono<Env>();
  app.onError((error) => apiErrorOf(error, onBug).response());
  app.notFound((c) => {
    throw new ApiError(404, `there is no ${c.req.method} ${c.req.path} here`, {
      code: "unknown_url",
    });
  });
  app.use(async (c, next) => {
    refuseForeign(c.req.raw.headers, c.env.incoming.socket.localPort ?? 0);
    await next();
  });

  app.get("/v1/models", (c) => c.json({ object: "list", data: [service.model] }));
  app.get("/v1/models/:model", (c) => {
    service.requireModel(c.req.param("model"));
    return c.json(service.model);
  });
  const answers = (endpoint: Endpoint) => async (c: Context<Env>) =>
    service.answer(endpoint, await readJson(c.req.raw), goneSignal(c));
  app.post("/v1/completions", answers(COMPLETIONS));
  app.post("/v1/chat/completions", answers(CHAT));

  for (const [path, allow] of [
    ["/v1/models", "GET"],
    ["/v1/models/:model", "GET"],
    ["/v1/completions", "POST"],
    ["/v1/chat/completions", "POST"],
  ] as const) {
    app.all(path, ({ req }) => {
      throw new ApiError(405, `${req.path} takes ${allow}, not ${req.method}`, {
        code: "method_not_allowed",
        headers: { allow },
      });
    });
  }
  return app;
}

/** Aborted when the connection closes before the answer is out. */
function goneSignal(c: Context<Env>): AbortSignal {
  const { outgoing } = c.env;
  const gone = new AbortController();
  const close = () =>
    outgoing.writableFinished || gone.abort(new ApiError(499, "the client went away"));
  if (outgoing.closed) close();
  else outgoing.once("close", close);
  return gone.signal;
}
