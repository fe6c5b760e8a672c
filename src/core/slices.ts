/** Slices: groups of examples with the same value in a field, such as a topic. */

import { canonicalJson } from "./json.ts";
import { type Example, isFields } from "./records.ts";

/** What an example without the field belongs to; the same text in the data is written in quotes. */
export const NO_VALUE = "(none)";

/** By field, the value of each; fields of fields are written with dots, such as metadata.topic. */
export type Slices = Record<string, string>;

export function slicesOf(example: Example, fields: readonly string[]): Slices {
  return Object.fromEntries(fields.map((field) => [field, sliceOf(example, field)]));
}

/** The value as text; a name with dots in it is preferred to a path. */
function sliceOf(example: Example, field: string): string {
  let value: unknown = example;
  if (Object.hasOwn(example, field)) value = (example as Record<string, unknown>)[field];
  else {
    for (const name of field.split("."))
      value = isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  if (value === undefined || value === null) return NO_VALUE;
  if (typeof value !== "string") return canonicalJson(value);
  // Texts that begin with a quote are quoted as well, so that no two values become one.
  return value === NO_VALUE || value.startsWith('"') ? JSON.stringify(value) : value;
}
