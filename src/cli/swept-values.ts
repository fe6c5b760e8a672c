/** The setting that a sweep changes, and its values, as written on the command line. */

import { usageError } from "../core/errors.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { nested, yamlValue } from "../learn/recipe.ts";

export interface Swept {
  readonly over: string;
  readonly values: readonly Json[];
}

/** "kl.coefficient=0,0.1", or "weights=[1,0],[1,0.3]" where a value is a list. */
export function sweptValues(text: string): Swept {
  const at = text.indexOf("=");
  const [over, list] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  // Read as one list, so that commas inside a value do not end it.
  const values = over === "" || list.trim() === "" ? [] : (yamlValue(`[${list}]`) as Json[]);
  const different = new Set(values.map((value) => canonicalJson(value)));
  if (values.length === 0 || different.size !== values.length) {
    throw usageError(
      `--over ${text}: expected a setting and different values`,
      "Example: --over kl.coefficient=0,0.01,0.1.",
    );
  }
  return { over, values };
}

/** The first value, as a setting: settings that only a sweep gives are complete with it. */
export function sweptSetting({ over, values }: Swept): JsonObject {
  return nested(over.split("."), values[0] as Json);
}
