/** JSON as table rows: a dotted name and a value each. */

import { canonicalJson, type Json } from "../../core/json.ts";

/** Objects and lists of objects are flattened; everything else is a value. */
export function flattenJson(
  value: Json,
  number: (value: number) => string = String,
  name = "",
): [name: string, value: string][] {
  if (typeof value === "number") return [[name, number(value)]];
  if (!isNested(value)) return [[name, typeof value === "string" ? value : canonicalJson(value)]];
  return Object.entries(value as Record<string, Json>)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, member]) => flattenJson(member, number, name === "" ? key : `${name}.${key}`));
}

function isNested(value: Json): boolean {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return false;
  return !Array.isArray(value) || value.some((item) => typeof item === "object" && item !== null);
}
