/** The error for a setting that is unknown, missing or invalid. */

import { z } from "zod";
import { usageError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Algorithm } from "../algorithm.ts";

export function wrongSetting(
  { name: method }: Algorithm,
  whole: z.ZodType,
  given: JsonObject,
  issue: z.core.$ZodIssue | undefined,
): Error {
  const names = (issue?.path ?? []).map(String);
  const name = names.join(".");
  const known = namesIn(whole, names);
  const lists = `\`lockedroom train ${method} --show-settings\` describes them.`;
  const knows = `${name ? `Settings of ${name}` : "Settings"}: ${known?.join(", ")}. ${lists}`;
  if (issue?.code === "unrecognized_keys") {
    return usageError(`unknown setting ${[...names, issue.keys[0]].join(".")}`, knows);
  }
  if (valueAt(given, names) === undefined) {
    return usageError(
      `the setting ${name} is missing`,
      `Give --set ${name}=VALUE, or ${name} in the recipe.`,
    );
  }
  return usageError(
    `invalid setting ${name}: ${issue?.message}`,
    known ? knows : "Correct it in the recipe or the flag.",
  );
}

/** The names in a group of settings; undefined for a single setting. */
function namesIn(whole: z.ZodType, path: readonly string[]): string[] | undefined {
  const group = path.reduce<unknown>((outer, name) => shapeOf(outer)?.[name], whole);
  const shape = shapeOf(group);
  return shape && Object.keys(shape);
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  if (schema instanceof z.ZodObject) return schema.shape;
  const wrapped =
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable;
  return wrapped ? shapeOf(schema.unwrap()) : undefined;
}

export function valueAt(given: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((outer, name) => (outer as JsonObject | undefined)?.[name], given);
}
