/** Checks what tools a row offers, and the calls that an assistant message makes. */

import { isFields } from "../../core/records.ts";
import type { Report } from "../rules.ts";
import { short } from "./short.ts";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The names of the tools; undefined where the row offers none. */
export function checkTools(
  { tools, parallel_tool_calls: parallel }: Record<string, unknown>,
  where: string,
  report: Report,
): ReadonlySet<string> | undefined {
  if (parallel !== undefined && typeof parallel !== "boolean")
    report("parallel_tool_calls", `${where}parallel_tool_calls is ${short(parallel)}`);
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools)) {
    report("tools_shape", `${where}tools is not a list`);
    return undefined;
  }
  const names = new Set<string>();
  for (const [i, tool] of (tools as unknown[]).entries()) {
    const problem = toolProblem(tool, names);
    if (problem) report("tools_shape", `${where}tools[${i}] ${problem}`);
  }
  return names;
}

function toolProblem(tool: unknown, names: Set<string>): string | undefined {
  if (!isFields(tool)) return "is not an object";
  if (tool.type !== "function") return `has the type ${short(tool.type)}, not "function"`;
  const { function: made } = tool;
  if (!isFields(made)) return "has no function";
  const { name, description, parameters } = made;
  if (typeof name !== "string") return "has no function.name";
  if (!NAME.test(name)) return `is called ${short(name)}; a name is 1 to 64 of A-Z a-z 0-9 _ -`;
  if (names.has(name)) return `is called ${short(name)}, as one before it`;
  names.add(name);
  if (description !== undefined && typeof description !== "string")
    return "has a function.description that is not text";
  if (parameters !== undefined && !isFields(parameters))
    return "has function.parameters that are not a JSON Schema object";
  return undefined;
}

/** The ids of the calls. */
export function checkCalls(
  calls: unknown,
  where: string,
  tools: ReadonlySet<string> | undefined,
  report: Report,
): string[] {
  if (!Array.isArray(calls) || calls.length === 0) {
    report("tool_calls_shape", `${where}.tool_calls is not a list with at least one call`);
    return [];
  }
  const ids: string[] = [];
  for (const [i, call] of (calls as unknown[]).entries()) {
    const place = `${where}.tool_calls[${i}]`;
    const problem = callProblem(call, ids);
    if (problem) report("tool_calls_shape", `${place} ${problem}`);
    else checkCall(call as Call, place, tools, report);
    const id = isFields(call) ? call.id : undefined;
    if (typeof id === "string") ids.push(id);
  }
  return ids;
}

interface Call {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

function callProblem(call: unknown, ids: readonly string[]): string | undefined {
  if (!isFields(call)) return "is not an object";
  const { id, type, function: made } = call;
  if (typeof id !== "string" || id === "") return "has no id";
  if (ids.includes(id)) return `has the id ${short(id)} of a call before it`;
  if (type !== "function") return `has the type ${short(type)}, not "function"`;
  if (!isFields(made) || typeof made.name !== "string") return "has no function.name";
  if (typeof made.arguments === "string") return undefined;
  return "has function.arguments that are not text; write the JSON as a string";
}

function checkCall(
  { function: { name, arguments: given } }: Call,
  where: string,
  tools: ReadonlySet<string> | undefined,
  report: Report,
): void {
  if (!tools?.has(name))
    report("tool_unknown", `${where} calls ${short(name)}, which is not in tools`);
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    value = undefined;
  }
  if (!isFields(value)) report("tool_arguments", `${where} has arguments that are no JSON object`);
}
