/** A recipe file: the settings of a training run as YAML, and settings merged from several places. */

import { parse } from "yaml";
import { dataError, messageOf, usageError } from "../core/errors.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { readGiven } from "../runs/whole-file.ts";

export async function readRecipe(file: string): Promise<JsonObject> {
  const text = await readGiven(file);
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw dataError(
      `${file} is not valid YAML: ${messageOf(error).split("\n")[0]}`,
      "Fix that line.",
    );
  }
  if (isObject(content as Json)) return content as JsonObject;
  throw dataError(`${file} has no settings`, "Write lines such as `steps: 50`.");
}

/** Later ones win; nested groups are merged name by name. */
export function mergeSettings(...settings: readonly JsonObject[]): JsonObject {
  const result: Record<string, Json> = {};
  for (const one of settings) {
    for (const [name, value] of Object.entries(one)) {
      if (value === undefined) continue;
      if (name === "__proto__") throw usageError("there is no setting __proto__", "Remove it.");
      const before = result[name];
      result[name] =
        isObject(before) && isObject(value) ? mergeSettings(before, value) : (value as Json);
    }
  }
  return result;
}

/** `rollouts.group=16` as settings. */
export function parseAssignment(text: string): JsonObject {
  const at = text.indexOf("=");
  if (at < 1) {
    throw usageError(
      `"${text}" is not an assignment`,
      "Write --set name=value, such as --set kl.mode=fixed.",
    );
  }
  const names = text.slice(0, at).split(".");
  if (names.includes("__proto__")) throw usageError("there is no setting __proto__", "Remove it.");
  const value = yamlValue(text.slice(at + 1));
  return nested(names, value);
}

/** A value below these names. */
export function nested(names: readonly string[], value: Json): JsonObject {
  return names.reduceRight<Json>((inner, name) => ({ [name]: inner }), value) as JsonObject;
}

/** A value as YAML writes it. */
export function yamlValue(text: string): Json {
  try {
    return parse(text) as Json;
  } catch (error) {
    throw usageError(
      `"${text}" is not a value: ${messageOf(error).split("\n")[0]}`,
      "Write a number, a word, or a list such as [1, 2].",
    );
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
