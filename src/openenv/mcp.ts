/** The tools of an environment by the Model Context Protocol's JSON-RPC. */

import { z } from "zod";
import { messageOf } from "../core/errors.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { AnyDefinition } from "../environments/catalogue.ts";
import { RefusedAction, type Session } from "./session.ts";

const REQUEST = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string(),
  params: z.record(z.string(), z.json()).nullish(),
});

const CALL = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.json()).default({}),
});

/** Where the sessions are that a client opened by `openenv/session/create`. */
export interface McpSessions {
  create(): string;
  /** The session with that id, or the one of this connection. */
  find(id: string | undefined): Session;
  close(id: string): boolean;
}

const INVALID_REQUEST = -32600;
const UNKNOWN_METHOD = -32601;
const INVALID_PARAMS = -32602;

class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Always an answer: what is wrong with the request stands in its `error`. */
export function answerMcp(
  body: unknown,
  definition: AnyDefinition,
  sessions: McpSessions,
): JsonObject {
  const request = REQUEST.safeParse(body);
  const id = (request.success ? request.data.id : null) ?? null;
  try {
    if (!request.success) throw new RpcError(INVALID_REQUEST, "this is no JSON-RPC 2.0 request");
    const { method, params } = request.data;
    return { jsonrpc: "2.0", id, result: resultOf(method, params ?? {}, definition, sessions) };
  } catch (error) {
    const code = error instanceof RpcError ? error.code : INVALID_PARAMS;
    if (
      !(error instanceof RpcError || error instanceof RefusedAction || error instanceof z.ZodError)
    )
      throw error;
    return { jsonrpc: "2.0", id, error: { code, message: messageOf(error) } };
  }
}

function resultOf(
  method: string,
  params: JsonObject,
  definition: AnyDefinition,
  sessions: McpSessions,
): Json {
  const session_id = typeof params.session_id === "string" ? params.session_id : undefined;
  switch (method) {
    case "tools/list":
      return {
        tools: (definition.tools ?? []).map(({ name, description, parameters }) => ({
          ...{ name, description, inputSchema: parameters },
        })),
      };
    case "tools/call": {
      const { name, arguments: given } = CALL.parse(params);
      if (!definition.tools?.some((tool) => tool.name === name)) {
        throw new RpcError(INVALID_PARAMS, `there is no tool named ${name}`);
      }
      const { result, reward, done, metadata } = sessions.find(session_id).call(name, given);
      return {
        content: [{ type: "text", text: result }],
        structuredContent: { result, reward, done, ...(metadata && { metadata }) },
        isError: false,
      };
    }
    case "openenv/session/create":
      return { session_id: sessions.create() };
    case "openenv/session/close":
      return { closed: session_id !== undefined && sessions.close(session_id) };
    default:
      throw new RpcError(UNKNOWN_METHOD, `there is no method named ${method}`);
  }
}
