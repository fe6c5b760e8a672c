/** What an OpenEnv server tells over HTTP: what it is, its schemas, its tasks and its tools. */

import { z } from "zod";
import { messageOf } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { visibleShort } from "../core/visible.ts";
import type { RemoteAddress } from "./address.ts";
import { LARGEST_ANSWER, LARGEST_IN_WORDS, RemoteFailure } from "./remote-failure.ts";

const OBJECT = z.record(z.string(), z.json());

const METADATA = z.looseObject({
  name: z.string(),
  description: z.string().default(""),
  version: z.string().nullish(),
});

const SCHEMAS = z.looseObject({ action: OBJECT });

const MCP_TOOLS = z.object({
  result: z.object({
    tools: z.array(
      z.looseObject({
        name: z.string(),
        description: z.string().nullish(),
        inputSchema: OBJECT.nullish(),
        input_schema: OBJECT.nullish(),
      }),
    ),
  }),
});

export type Metadata = z.output<typeof METADATA>;
export type Schemas = z.output<typeof SCHEMAS>;

export class OpenEnvClient {
  readonly #address: RemoteAddress;

  constructor(address: RemoteAddress) {
    this.#address = address;
  }

  async metadata(): Promise<Metadata> {
    return read(METADATA, await this.#required("/metadata"), "/metadata");
  }

  async schemas(): Promise<Schemas> {
    return read(SCHEMAS, await this.#required("/schema"), "/schema");
  }

  /** None where the server has no tools. */
  async tools() {
    const request = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const answer = MCP_TOOLS.safeParse(await this.post("/mcp", request));
    return (answer.success ? answer.data.result.tools : []).map((tool) => ({
      name: tool.name,
      description: tool.description ?? "",
      parameters: tool.inputSchema ?? tool.input_schema ?? { type: "object" },
    }));
  }

  /** Undefined when the server has no such route, or does not support it. */
  get(path: string): Promise<Json | undefined> {
    return this.#fetch(path, {});
  }

  post(path: string, body: Json): Promise<Json | undefined> {
    const headers = { "content-type": "application/json" };
    return this.#fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  async #required(path: string): Promise<Json> {
    const found = await this.get(path);
    if (found === undefined) throw new RemoteFailure(`has no ${path}: it is no OpenEnv server`);
    return found;
  }

  async #fetch(path: string, request: RequestInit): Promise<Json | undefined> {
    const { url, settings } = this.#address;
    const signal = AbortSignal.timeout(settings.seconds * 1000);
    try {
      const response = await fetch(url + path, { ...request, signal, redirect: "error" });
      if (MISSING.has(response.status)) return undefined;
      const text = await limitedText(response, path);
      if (!response.ok) {
        throw new RemoteFailure(
          `answers ${path} with ${response.status}: ${visibleShort(text, 200)}`,
        );
      }
      return JSON.parse(text);
    } catch (error) {
      if (error instanceof RemoteFailure) throw error;
      if (error instanceof SyntaxError) throw new RemoteFailure(`answers ${path} with no JSON`);
      if (signal.aborted) {
        throw new RemoteFailure(`does not answer ${path} within ${settings.seconds} s`);
      }
      throw new RemoteFailure(`cannot be reached at ${path}: ${reason(error)}`);
    }
  }
}

/** Not found, not allowed, not implemented. */
const MISSING = new Set([404, 405, 501]);

async function limitedText(response: Response, path: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > LARGEST_ANSWER) {
      throw new RemoteFailure(`answers ${path} with more than ${LARGEST_IN_WORDS}`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function reason(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const { code } = (cause ?? {}) as { code?: string };
  return code === "ECONNREFUSED"
    ? "the connection was refused"
    : (code ?? messageOf(cause ?? error));
}

function read<T>(schema: z.ZodType<T>, value: Json, path: string): T {
  const found = schema.safeParse(value);
  if (found.success) return found.data;
  throw new RemoteFailure(`answers ${path} with something else: ${z.prettifyError(found.error)}`);
}
