/** Calls of tools in strict JSON: `{"tool": name, "arguments": {…}}` and nothing else. */

import { z } from "zod";
import type { Tool } from "../core/environment.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";

export interface Call {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** What is wrong with an answer that is not a call. */
export type CallFault = "invalid_json" | "unknown_tool" | "bad_arguments";

type Parameters = Readonly<Record<string, z.ZodObject>>;

/** The calls that a tool set can read, each with its checked arguments. */
export type CallOf<P extends Parameters> = {
  [T in keyof P & string]: { readonly tool: T; readonly arguments: z.output<P[T]> };
}[keyof P & string];

export interface ToolSet<P extends Parameters> {
  /** As policies are told of them. */
  readonly tools: readonly Tool[];
  /** The call that a text makes, defaults filled in, or what is wrong with it. */
  read(text: string): CallOf<P> | CallFault;
}

export function toolSet<P extends Parameters>(
  parameters: P,
  purposes: Readonly<Record<keyof P, string>>,
): ToolSet<P> {
  const tools = Object.entries(parameters).map(([name, schema]) => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" }) as JsonObject;
    return { name, description: purposes[name] as string, parameters: rest };
  });
  return {
    tools,
    read(text) {
      const call = CALL.safeParse(parsed(text));
      if (!call.success) return "invalid_json";
      const { tool, arguments: given } = call.data;
      if (!Object.hasOwn(parameters, tool)) return "unknown_tool";
      const checked = parameters[tool]?.safeParse(given);
      if (!checked?.success) return "bad_arguments";
      return { tool, arguments: checked.data } as CallOf<P>;
    },
  };
}

const CALL = z.strictObject({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The call as a policy should write it. */
export function callText(call: Call): string {
  return canonicalJson(call as unknown as Json);
}

export function sameCall(a: Call, b: Call): boolean {
  return callText(a) === callText(b);
}
