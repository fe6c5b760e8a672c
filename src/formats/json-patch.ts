/** The part of JSON Patch (RFC 6902) that turns one value into another: add, remove, replace. */

import { z } from "zod";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";

export interface PatchOperation {
  readonly op: "add" | "remove" | "replace";
  /** A JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly value?: Json | undefined;
}

const patchSchema = z.array(
  z.strictObject({
    op: z.enum(["add", "remove", "replace"]),
    path: z.string().startsWith("/"),
    value: z.unknown().optional(),
  }),
);

export function readPatch(value: unknown): PatchOperation[] {
  const parsed = patchSchema.safeParse(value);
  if (parsed.success) return parsed.data as PatchOperation[];
  throw new TypeError(`not a JSON Patch: ${z.prettifyError(parsed.error)}`);
}

/** What to do to `from` so that it becomes `to`, whatever the order of their keys. */
export function difference(from: Json, to: Json, path = ""): PatchOperation[] {
  if (isObject(from) && isObject(to)) return memberDifference(from, to, path);
  if (isList(from) && isList(to) && from.length === to.length && to.every(isObject)) {
    return to.flatMap((item, i) => difference(from[i] as Json, item, `${path}/${i}`));
  }
  return canonicalJson(from) === canonicalJson(to) ? [] : [{ op: "replace", path, value: to }];
}

function memberDifference(from: JsonObject, to: JsonObject, path: string): PatchOperation[] {
  const gone = Object.keys(from)
    .sort()
    .filter((key) => from[key] !== undefined && own(to, key) === undefined)
    .map((key): PatchOperation => ({ op: "remove", path: `${path}/${escaped(key)}` }));
  const rest = Object.keys(to)
    .sort()
    .flatMap((key): PatchOperation[] => {
      const [before, after] = [own(from, key), own(to, key)];
      const place = `${path}/${escaped(key)}`;
      if (after === undefined) return [];
      return before === undefined
        ? [{ op: "add", path: place, value: after }]
        : difference(before, after, place);
    });
  return [...gone, ...rest];
}

/** The value after the operations; throws where one does not fit. */
export function patched(value: Json, operations: readonly PatchOperation[]): Json {
  return operations.reduce((before, operation) => {
    const keys = operation.path.slice(1).split("/").map(unescaped);
    return changed(before, keys, operation);
  }, value);
}

function changed(value: Json | undefined, keys: readonly string[], change: PatchOperation): Json {
  const [key = "", ...deeper] = keys;
  const list = value !== undefined && isList(value) ? value : undefined;
  if (list === undefined && (value === undefined || !isObject(value))) throw doesNotFit(change);
  const members = list ? list.map((item, i) => [String(i), item]) : Object.entries(value as object);
  const at = members.findIndex(([name]) => name === key);
  const last = deeper.length === 0;
  if (at < 0 && !(last && change.op === "add" && !list)) throw doesNotFit(change);
  if (last && change.op === "remove") members.splice(at, 1);
  else {
    const next = last ? (change.value as Json) : changed(members[at]?.[1] as Json, deeper, change);
    members.splice(at < 0 ? members.length : at, 1, [key, next]);
  }
  return list ? members.map(([, item]) => item as Json) : Object.fromEntries(members);
}

function doesNotFit({ op, path }: PatchOperation): TypeError {
  return new TypeError(`the patch does not fit: there is nothing to ${op} at ${path}`);
}

/** A member of the object's own; an inherited one such as `constructor` is none. */
function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescaped(key: string): string {
  return key.replaceAll("~1", "/").replaceAll("~0", "~");
}
