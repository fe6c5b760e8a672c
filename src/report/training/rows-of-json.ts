/** JSON as rows of a table: a dotted name and a value each. */

import { canonicalJson, type Json } from "../../core/json.ts";

/** Objects are opened, and lists of them; everything else is a value. */
export function rowsOfJson(
  value: Json,
  number: (value: number) => string = String,
  name = "",
): [name: string, value: string][] {
  if (typeof value === "number") return [[name, number(value)]];
  if (!isOpened(value)) return [[name, typeof value === "string" ? value : canonicalJson(value)]];
  return Object.entries(value as Record<string, Json>)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, member]) => rowsOfJson(member, number, name === "" ? key : `${name}.${key}`));
}

function isOpened(value: Json): boolean {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return false;
  return !Array.isArray(value) || value.some((item) => typeof item === "object" && item !== null);
}
