/** The values at the ends of nested JSON, each with its path: `rate.peak`. Arrays are values. */

import type { Json } from "./json.ts";

export function leaves(value: Json, prefix = ""): [path: string, value: Json][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[prefix, value]];
  return Object.entries(value).flatMap(([key, inner]) =>
    leaves(inner as Json, prefix === "" ? key : `${prefix}.${key}`),
  );
}
