/** The policy's text as an action of the server's schema. */

import { z } from "zod";
import type { Json, JsonObject } from "../core/json.ts";

export type ReadAction = { readonly action: JsonObject } | { readonly problem: string };

export interface ActionReader {
  /** What the policy has to write, in words. */
  readonly says: string;
  read(text: string): ReadAction;
}

const SCHEMA = z.looseObject({
  title: z.string().optional(),
  required: z.array(z.string()).default([]),
  properties: z.record(z.string(), z.looseObject({ type: z.unknown() })).default({}),
});

/** The names of the action types by which OpenEnv's tool servers take every call. */
const TOOL_ACTIONS = new Set(["Action", "CallToolAction", "ListToolsAction"]);

export function actionReader(schema: JsonObject, tools: readonly unknown[]): ActionReader {
  const { title = "", required, properties } = SCHEMA.parse(schema);
  if (TOOL_ACTIONS.has(title) && tools.length > 0) return CALLS;
  const [field, ...more] = required;
  if (field === undefined || more.length > 0) return OBJECTS;
  if (properties[field]?.type === "string") {
    return {
      says: `any text; it is sent as ${field}`,
      read: (text) => ({ action: { [field]: text } }),
    };
  }
  return valueReader(field, properties[field]?.type);
}

/** The one field that is required is no text: the policy writes its value as JSON. */
function valueReader(field: string, type: unknown): ActionReader {
  const kind = typeof type === "string" ? `JSON value (${type})` : "JSON value";
  return {
    says: `one ${kind}; it is sent as ${field}`,
    read: (text) => {
      const value = parsed(text);
      if (value === undefined) return { problem: `the answer is no ${kind}` };
      return { action: isObject(value) && field in value ? value : { [field]: value } };
    },
  };
}

const OBJECTS: ActionReader = {
  says: "a JSON object by the action's schema",
  read: (text) => {
    const value = parsed(text);
    return isObject(value) ? { action: value } : { problem: "the answer is no JSON object" };
  },
};

const CALL = z.strictObject({ tool: z.string(), arguments: z.record(z.string(), z.json()) });

const CALLS: ActionReader = {
  says: 'a call of a tool: {"tool": name, "arguments": {…}}',
  read: (text) => {
    const call = CALL.safeParse(parsed(text));
    if (!call.success) return { problem: "the answer is no call of a tool in JSON" };
    const { tool, arguments: given } = call.data;
    return { action: { type: "call_tool", tool_name: tool, arguments: given } };
  },
};

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
