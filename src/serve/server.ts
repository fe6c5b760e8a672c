/** Starts the OpenAI-compatible server of one policy. */

import { type App, abortOnDisconnect, addRoute, type Handler } from "../http/app.ts";
import { readJson } from "../http/body.ts";
import { openAiError } from "../http/openai-error.ts";
import type { RunningServer } from "../http/running-server.ts";
import { startHttpServer } from "../http/server.ts";
import type { EmbeddedPolicy } from "../policy/embedded.ts";
import { CHAT } from "./chat.ts";
import { COMPLETIONS } from "./completions.ts";
import { type Endpoint, Service } from "./service.ts";

export interface ServerOptions {
  /** The caller closes it, after the server. */
  readonly policy: EmbeddedPolicy;
  /** The name of the model in requests. */
  readonly name: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Called with internal errors; clients get only a status of 500. */
  readonly onBug?: (error: unknown) => void;
}

export interface PolicyServer extends RunningServer {
  /** For OpenAI's client: `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
}

export async function startServer(options: ServerOptions): Promise<PolicyServer> {
  const { policy, name, port, onBug = () => {} } = options;
  await sampleOnce(policy);
  const service = new Service(policy, name, onBug);
  const server = await startHttpServer({
    port,
    onBug,
    errorBody: openAiError,
    addRoutes: (app) => addRoutes(app, service),
    stop: (graceMs) => service.stop(graceMs),
  });
  return { ...server, baseUrl: `${server.url}/v1` };
}

/** So that a missing engine is reported at the start and not to the first client. */
async function sampleOnce(policy: EmbeddedPolicy): Promise<void> {
  const prompt = [policy.checkpoint.tokenizer.beginToken ?? 0];
  const sampling = { ...policy.sampling, max_tokens: 1 };
  await policy.generate([{ prompt, address: [0] }], { sampling });
}

function addRoutes(app: App, service: Service): void {
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
