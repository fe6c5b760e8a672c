/** Starts the OpenAI-compatible server of one policy. */

import { type RunningServer, startHttpServer } from "../http/server.ts";
import type { EmbeddedPolicy } from "../policy/embedded.ts";
import { addRoutes } from "./app.ts";
import { openAiError } from "./errors.ts";
import { Service } from "./service.ts";

export interface ServerOptions {
  /** The caller closes it, after the server. */
  readonly policy: EmbeddedPolicy;
  /** The name of the model in requests. */
  readonly name: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Called with internal errors; clients only hear that there was one. */
  readonly onBug?: (error: unknown) => void;
}

export interface PolicyServer extends RunningServer {
  /** For OpenAI's client: `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
}

export async function startServer(options: ServerOptions): Promise<PolicyServer> {
  const { policy, name, port, onBug = () => {} } = options;
  await sampleOnce(policy);
  const service = new Service({ policy, name, created: Math.floor(Date.now() / 1000), onBug });
  const server = await startHttpServer({
    port,
    onBug,
    errorBody: openAiError,
    addRoutes: (app) => addRoutes(app, service),
    stop: (graceMs) => service.stop(graceMs),
  });
  return { ...server, baseUrl: `${server.url}/v1` };
}

/** A missing engine is reported at the start and not to the first client. */
async function sampleOnce(policy: EmbeddedPolicy): Promise<void> {
  const prompt = [policy.checkpoint.tokenizer.beginToken ?? 0];
  const sampling = { ...policy.sampling, max_tokens: 1 };
  await policy.generate([{ prompt, address: [0] }], { sampling });
}
