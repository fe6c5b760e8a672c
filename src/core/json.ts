/** JSON values, and the one canonical text that fingerprints and artifacts use. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/**
 * Serialises a value with sorted keys and no white space, so that equal values give equal bytes.
 * Throws where `JSON.stringify` would quietly write something else (NaN, functions, cycles).
 */
export function canonicalJson(value: unknown): string {
  return write(value, "", 0);
}

const MAX_DEPTH = 1000;

function write(value: unknown, path: string, depth: number): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value))
        throw new TypeError(`${at(path)} is ${value}, which JSON cannot hold`);
      return JSON.stringify(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth > MAX_DEPTH)
        throw new TypeError(`${at(path)} is nested deeper than ${MAX_DEPTH} levels`);
      return Array.isArray(value)
        ? `[${value.map((item, index) => write(item, `${path}[${index}]`, depth + 1)).join(",")}]`
        : writeObject(value as Record<string, unknown>, path, depth);
    default:
      throw new TypeError(`${at(path)} is a ${typeof value}, which JSON cannot hold`);
  }
}

function writeObject(object: Record<string, unknown>, path: string, depth: number): string {
  const parts: string[] = [];
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member === undefined) continue;
    parts.push(`${JSON.stringify(key)}:${write(member, `${path}.${key}`, depth + 1)}`);
  }
  return `{${parts.join(",")}}`;
}

function at(path: string): string {
  return path === "" ? "the value" : path.replace(/^\./, "");
}
