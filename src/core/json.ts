/** JSON values, and the one canonical text that fingerprints and artifacts use. */

/** Any JSON value. @see {@link canonicalJson} */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
/** A JSON object. @see {@link canonicalJson} */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/**
 * Serialises a value with sorted keys and no white space, so that equal values give equal bytes.
 * Throws where `JSON.stringify` would quietly write something else (NaN, functions, cycles).
 * @example
 * ```ts
 * import { canonicalJson } from "lockedroom";
 * console.log(canonicalJson({ b: 2, a: [1] })); // {"a":[1],"b":2}
 * ```
 */
export function canonicalJson(value: unknown): string {
  try {
    return write(value, 0);
  } catch (error) {
    // Where it is wrong is worth a second walk, not a path built for every value that is right.
    throw error instanceof NotJson ? new TypeError(locate(value, "", 0) ?? error.message) : error;
  }
}

const MAX_DEPTH = 1000;

class NotJson extends TypeError {}

function write(value: unknown, depth: number): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "object" && value !== null) {
    if (depth > MAX_DEPTH) throw new NotJson("the value is nested too deeply");
    return Array.isArray(value)
      ? `[${value.map((item) => write(item, depth + 1)).join(",")}]`
      : writeObject(value as Record<string, unknown>, depth);
  }
  const problem = problemOf(value, depth);
  if (problem) throw new NotJson(problem);
  return JSON.stringify(value);
}

function writeObject(object: Record<string, unknown>, depth: number): string {
  let text = "";
  for (const key of sortedKeys(object)) {
    const member = object[key];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${write(member, depth + 1)}`;
  }
  return `{${text}}`;
}

/** Most objects arrive sorted, and looking is cheaper than sorting. */
function sortedKeys(object: Record<string, unknown>): string[] {
  const keys = Object.keys(object);
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i - 1] as string) > (keys[i] as string)) return keys.sort();
  }
  return keys;
}

function problemOf(value: unknown, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
  if (value === null || typeof value === "boolean") return undefined;
  if (value === undefined) return "is undefined, which JSON cannot hold";
  if (typeof value !== "number") return `is a ${typeof value}, which JSON cannot hold`;
  return Number.isFinite(value) ? undefined : `is ${value}, which JSON cannot hold`;
}

/** The first offending member with its path, as a sentence. */
function locate(value: unknown, path: string, depth: number): string | undefined {
  if (typeof value === "string") return undefined;
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) {
    const problem = problemOf(value, depth);
    return problem && `${path.slice(0, 100).replace(/^\./, "") || "the value"} ${problem}`;
  }
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined && !Array.isArray(value)) continue;
    const found = locate(
      member,
      Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`,
      depth + 1,
    );
    if (found) return found;
  }
  return undefined;
}

/** Makes plain data read-only all the way down, so that code it is lent to cannot change it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
