/** The routes. */

import { type App, abortOnDisconnect, addRoute, type Handler } from "../http/app.ts";
import { readJson } from "../http/body.ts";
import { CHAT } from "./chat.ts";
import { COMPLETIONS } from "./completions.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Service } from "./service.ts";

export function addRoutes(app: App, service: Service): void {
  addRoute(app, "/v1/models", {
    GET: (c) => c.json({ object: "list", data: [service.model] }),
  });
  addRoute(app, "/v1/models/:model", {
    GET: (c) => {
      service.requireModel(c.req.param("model") ?? "");
      return c.json(service.model);
    },
  });
  addRoute(app, "/v1/completions", { POST: answer(service, COMPLETIONS) });
  addRoute(app, "/v1/chat/completions", { POST: answer(service, CHAT) });
}

function answer(service: Service, endpoint: Endpoint): Handler {
  return async (c) => {
    const body = await readJson(c.req.raw, { reviver: dropNull });
    return service.answer(endpoint, body, abortOnDisconnect(c));
  };
}

/** In OpenAI's API a null field means the same as an absent one. */
const dropNull = (_: string, value: unknown) => (value === null ? undefined : value);
