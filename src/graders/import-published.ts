/**
 * Reads the JSON in which graders are published: an eval with `testing_criteria`, a job of
 * reinforcement fine-tuning, a request of the graders API, a list of graders, or one grader.
 */

import { dataError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { type Grader, readGrader, type SingleGrader } from "./grader-schema.ts";
import { settingsSchema } from "./settings.ts";
import { validateGrader } from "./validate.ts";
import { variablesOf } from "./variables.ts";

export interface Published {
  readonly from: "eval" | "reinforcement job" | "grader";
  readonly graders: readonly Grader[];
  /** The JSON schema of an eval's items. */
  readonly itemSchema?: JsonObject;
  /** Of a job, in the nested shape of the chat API. */
  readonly responseFormat?: JsonObject;
  /** What a person should know; nothing here prevents the graders' use. */
  readonly notes: readonly string[];
}

/** `where` begins every message. */
export async function readPublished(value: unknown, where: string): Promise<Published> {
  if (Array.isArray(value)) return alone(value, where);
  if (!isFields(value)) throw noGraders(where);
  if (Object.hasOwn(value, "testing_criteria")) return readEval(value, where);
  if (Object.hasOwn(value, "method")) return readJob(value, where);
  if (Object.hasOwn(value, "type")) return alone([value], where);
  if (Object.hasOwn(value, "grader")) return alone([value.grader], where);
  throw noGraders(where);
}

function noGraders(where: string): Error {
  return dataError(
    `${where} holds no graders`,
    "It needs testing_criteria, method.reinforcement.grader, grader, or is a grader itself.",
  );
}

async function alone(values: readonly unknown[], where: string): Promise<Published> {
  return { from: "grader", graders: await listed(values, where, ""), notes: [] };
}

async function readEval(
  { testing_criteria, data_source_config }: Record<string, unknown>,
  where: string,
): Promise<Published> {
  if (!Array.isArray(testing_criteria) || testing_criteria.length === 0)
    throw dataError(`${where}: testing_criteria must be a list of graders`);
  const graders = await listed(testing_criteria, where, "testing_criteria.");
  const itemSchema = itemSchemaOf(data_source_config, where);
  if (itemSchema === undefined) {
    const notes = ["The eval has no item_schema, so that the fields of items cannot be checked."];
    return { from: "eval", graders, notes };
  }
  for (const grader of graders) requireFields(grader, itemSchema, where);
  return { from: "eval", graders, itemSchema, notes: [] };
}

/** As it is sent, `item_schema`; as the API gives it back, a member of `schema`. */
function itemSchemaOf(config: unknown, where: string): JsonObject | undefined {
  if (config === undefined || config === null) return undefined;
  if (!isFields(config)) throw dataError(`${where}: data_source_config must be an object`);
  const { item_schema, schema } = config;
  const whole =
    isFields(schema) && isFields(schema.properties) ? schema.properties.item : undefined;
  const found = item_schema ?? whole;
  if (found === undefined) return undefined;
  if (isFields(found)) return found as JsonObject;
  throw dataError(`${where}: data_source_config.item_schema must be a JSON schema`);
}

/** A template that names a field which no item has would make every row an error. */
function requireFields(grader: Grader, schema: JsonObject, where: string): void {
  const { properties } = schema;
  if (!isFields(properties) || schema.additionalProperties === true) return;
  const other = variablesOf(grader).itemFields.find((field) => !Object.hasOwn(properties, field));
  if (other === undefined) return;
  throw dataError(
    `${where}: ${grader.name ?? grader.type} names item.${other}, which item_schema does not have`,
    `Its properties: ${Object.keys(properties).join(", ")}.`,
  );
}

async function readJob({ method }: Record<string, unknown>, where: string): Promise<Published> {
  const job = isFields(method) ? method.reinforcement : undefined;
  if (!isFields(job) || !isFields(job.grader))
    throw dataError(
      `${where}: method.reinforcement.grader is missing`,
      "Only jobs of reinforcement fine-tuning have a grader.",
    );
  const graders = [await published(job.grader, `${where}: method.reinforcement.grader`)];
  const responseFormat = responseFormatOf(job.response_format, where);
  const json = graders.some((grader) => variablesOf(grader).sampleFields.includes("output_json"));
  const notes =
    json && responseFormat === undefined
      ? ["A grader reads sample.output_json, and the job has no response_format."]
      : [];
  return {
    ...{ from: "reinforcement job", graders, notes },
    ...(responseFormat && { responseFormat }),
  };
}

/** Documented as `{ type, json_schema: { name, schema } }` and as `{ type, name, schema }`. */
export function responseFormatOf(value: unknown, where: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  const wrong = (what: string) => dataError(`${where}: response_format ${what}`);
  if (!isFields(value)) throw wrong("must be an object");
  const { type, json_schema: nested, ...flat } = value as JsonObject;
  if (type === "text" || type === "json_object") return { type };
  if (type !== "json_schema") throw wrong("has no type of text, json_object or json_schema");
  if (nested !== undefined && Object.keys(flat).length > 0)
    throw wrong("has json_schema and its fields beside it; one of them is needed");
  const given = nested ?? flat;
  if (!isFields(given) || typeof given.name !== "string" || !isFields(given.schema))
    throw wrong("of the type json_schema needs a name and a schema");
  return { type, json_schema: given as JsonObject };
}

async function listed(values: readonly unknown[], where: string, place: string): Promise<Grader[]> {
  const graders: Grader[] = [];
  for (const [i, value] of values.entries()) {
    const one = values.length === 1 && place === "";
    graders.push(await published(value, one ? where : `${where}: ${place}${i}`));
  }
  return graders;
}

/** The API adds an `id` to the criteria that it gives back, and writes absent fields as null. */
async function published(value: unknown, where: string): Promise<Grader> {
  const grader = readGrader(isFields(value) ? withoutReplyFields(value) : value, where);
  await validateGrader({ grader, settings: settingsSchema.parse({}) }, where);
  return grader;
}

function withoutReplyFields({ id, ...fields }: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== null));
}

/** One grader of several: a formula of their keys, or `mean`. */
export function combined(graders: readonly Grader[], formula: string, where: string): Grader {
  const keys = distinct(graders.map(({ name, type }) => (name ?? type).replace(/\W+/g, "_")));
  const parts = graders.map((grader, i) => {
    const key = keys[i] as string;
    return [/^\d/.test(key) ? `_${key}` : key, grader as SingleGrader] as const;
  });
  const names = parts.map(([key]) => key);
  const calculate_output =
    formula === "mean" ? `(${names.join(" + ")}) / ${names.length}` : formula;
  const multi = { type: "multi", name: "combined", graders: Object.fromEntries(parts) };
  return readGrader({ ...multi, calculate_output }, where);
}

/** The same name again gets a number. */
export function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
    taken.add(free);
    return free;
  });
}
