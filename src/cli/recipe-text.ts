/**
 * All settings of a training run as a recipe: YAML for `--config`, with the meaning and range of each
 * setting, from the settings' schemas.
 */

import { stringify } from "yaml";
import { z } from "zod";
import type { Json, JsonObject } from "../core/json.ts";
import { columns } from "../core/visible.ts";
import type { Algorithm } from "../learn/algorithm.ts";
import { type Idle, idleSettings, unusedSettings } from "../learn/settings/unused.ts";
import { valueAt } from "../learn/settings/wrong-setting.ts";
import { completed, settingsSchema } from "../learn/settings.ts";
import { WIDTH, wrap } from "./terminal.ts";

/** The usual column of comments, and the last one with enough space for them. */
const [COLUMN, LAST_COLUMN] = [26, 52];

type Schema = z.core.JSONSchema.BaseSchema;

/** What all lines of a recipe share. */
interface Recipe {
  readonly algorithm: string;
  readonly given: JsonObject;
  readonly idle: ReadonlyMap<string, Idle>;
  readonly unused: readonly string[];
}

interface Setting {
  readonly path: readonly string[];
  readonly schema: Schema;
  /** Undefined where there is neither a value nor a default. */
  readonly value: Json | undefined;
  /** Whether it, or the group that it belongs to, is not set and has no default. */
  readonly off: boolean;
}

/** Given settings replace the defaults; invalid ones are rejected as in training. */
export function recipeText(algorithm: Algorithm, given: JsonObject): string {
  const { name, about } = algorithm;
  const values = completed(algorithm, given) as JsonObject;
  const recipe: Recipe = {
    algorithm: name,
    given,
    idle: new Map(idleSettings(algorithm, values).map((one) => [one.name, one])),
    unused: unusedSettings(algorithm),
  };
  const schema = z.toJSONSchema(settingsSchema(algorithm), { io: "input" }) as Schema;
  const settings = settingsIn({ path: [], schema, value: values, off: false });
  const left = recipe.unused.filter((name) => valueAt(given, name.split(".")) === undefined);
  return [
    remark(
      `Settings of ${name}: ${about}. Use this file with --config; flags and --set override it.`,
    ),
    ...settings.flatMap((setting, i) => {
      const lines = linesOf(recipe, setting);
      const apart = [setting, settings[i - 1]].some((one) => !one || groupOf(one.schema));
      return apart && lines.length > 0 ? ["", ...lines] : lines;
    }),
    ...(left.length > 0 ? ["", remark(`Not used by ${name}: ${left.join(", ")}.`)] : []),
  ].join("\n");
}

const UNSET = "not set unless uncommented";
const remark = (text: string) => wrap(text, "# ");

function settingsIn({ path, schema, value, off }: Setting): Setting[] {
  const { properties = {}, required = [] } = groupOf(schema) ?? {};
  return Object.entries(properties).map(([name, inner]) => {
    const own = value === null ? (inner as Schema).default : (value as JsonObject)[name];
    const absent = own === undefined && !required.includes(name);
    return {
      path: [...path, name],
      schema: inner as Schema,
      value: absent ? null : (own as Json),
      off: off || value === null || absent,
    };
  });
}

/** The schema of a group of settings, also where it may be null. */
function groupOf(schema: Schema): Schema | undefined {
  if (schema.properties) return schema;
  return (schema.anyOf as Schema[] | undefined)?.find(({ properties }) => properties);
}

function linesOf(recipe: Recipe, setting: Setting): string[] {
  const { path, schema, value, off } = setting;
  const name = path.join(".");
  const given = valueAt(recipe.given, path) !== undefined;
  const unused = recipe.unused.some((one) => `${name}.`.startsWith(`${one}.`));
  if (unused && !given) return [];
  const idle = recipe.idle.get(name);
  const why = unused ? `no effect on ${recipe.algorithm}` : idle && `for ${idle.add}`;
  const what = name === "algorithm" ? `settings of ${recipe.algorithm}` : schema.description;
  if (groupOf(schema)) {
    const state =
      value === null ? (off ? UNSET : "null unless a line below is uncommented") : undefined;
    const inner = settingsIn(setting).flatMap((one) => linesOf(recipe, one));
    const empty = value !== null && inner.length === 0;
    return [...lineOf(path, empty ? "{}" : "", off, [why, what, state]), ...inner];
  }
  const required = value === undefined ? "required" : undefined;
  const text = required ? "VALUE" : yamlOf(value as Json);
  const aside = off || required !== undefined || (idle !== undefined && !given);
  return lineOf(path, text, aside, [required, why, `${what} (${choices(schema)})`]);
}

/** A setting with its comment beside it, or above it if the setting is long. */
function lineOf(
  path: readonly string[],
  value: string,
  aside: boolean,
  notes: readonly (string | undefined)[],
): string[] {
  const indent = "  ".repeat(path.length - 1);
  const line = `${indent}${aside ? "# " : ""}${path.at(-1)}:${value && ` ${value}`}`;
  const note = notes.filter((one) => one !== undefined).join("; ");
  const column = Math.max(COLUMN, columns(line) + 2);
  if (column > LAST_COLUMN) {
    const rest =
      columns(line) > WIDTH ? [`${indent}${path.at(-1)}:`, wrap(value, `${indent}  `)] : [line];
    return [wrap(note, `${indent}# `), ...rest];
  }
  const padded = (text: string) => text + " ".repeat(column - columns(text));
  return wrap(note, "# ", WIDTH - column)
    .split("\n")
    .map((part, i) => padded(i === 0 ? line : aside ? `${indent}#` : "") + part);
}

function yamlOf(value: Json): string {
  const options = { collectionStyle: "flow", flowCollectionPadding: false, lineWidth: 0 } as const;
  return stringify(value, options).trimEnd();
}

/** The valid values of a setting, in words. */
function choices(schema: Schema): string {
  const all = alternatives(schema);
  return [all.slice(0, -1).join(", "), all.at(-1)].filter(Boolean).join(" or ");
}

function alternatives(schema: Schema): string[] {
  const { anyOf, enum: words, type, items } = schema;
  if (anyOf) return (anyOf as Schema[]).flatMap(alternatives);
  if (words) return words.map(String);
  if (type === "boolean") return ["true", "false"];
  if (type === "array") return [`list, each ${choices(items as Schema)}`];
  if (type === "integer") return [`whole number ${range(schema)}`];
  if (type === "number") return [range(schema)];
  return [type === "string" ? "a name" : String(type)];
}

function range({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): string {
  if (exclusiveMinimum !== undefined) {
    return `above ${exclusiveMinimum}${maximum === undefined ? "" : `, up to ${maximum}`}`;
  }
  if (minimum === undefined) return "any number";
  if (exclusiveMaximum !== undefined) return `from ${minimum}, below ${exclusiveMaximum}`;
  // Integers without a maximum have MAX_SAFE_INTEGER.
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  return `from ${minimum} ${most === undefined ? "up" : `to ${most}`}`;
}
