/**
 * Graders as the API takes them: strict schemas, so that a misspelt field is refused by its name and
 * not ignored. `readGrader` turns what zod found into sentences.
 */

import { z } from "zod";
import { dataError } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import { isName } from "../core/score.ts";
import { METRIC_NAMES } from "./similarity/index.ts";

/** From the API's documentation. */
const LARGEST_SOURCE_BYTES = 256 * 1024;

const name = z.string().refine(isName, {
  error: "must be visible text of at most 100 characters",
});
/** Shown on graders of evals and on some of training; it does not change a reward here. */
const pass_threshold = z.number().optional();

export const OPERATIONS = ["eq", "ne", "like", "ilike"] as const;

export const stringCheck = z.strictObject({
  type: z.literal("string_check"),
  ...{ name, input: z.string(), reference: z.string() },
  operation: z.enum(OPERATIONS),
  pass_threshold,
});

export const textSimilarity = z.strictObject({
  type: z.literal("text_similarity"),
  ...{ name, input: z.string(), reference: z.string() },
  evaluation_metric: z.enum(METRIC_NAMES),
  pass_threshold,
});

/** Text, or parts of it as the Responses API writes them. */
const content = z.union([
  z.string(),
  z.strictObject({ type: z.enum(["input_text", "output_text"]), text: z.string() }),
  z.array(z.strictObject({ type: z.enum(["input_text", "output_text"]), text: z.string() })),
]);
const message = z.strictObject({
  role: z.enum(["user", "assistant", "system", "developer"]),
  content,
  type: z.literal("message").optional(),
});
const model = z.string().min(1);
const sampling_params = z
  .strictObject({
    temperature: z.number().optional(),
    top_p: z.number().optional(),
    seed: z.int().optional(),
    /** The documentation's spelling; the usual one is accepted too. */
    max_completions_tokens: z.int().positive().optional(),
    max_completion_tokens: z.int().positive().optional(),
    reasoning_effort: z.string().nullable().optional(),
  })
  .optional();

export const scoreModel = z.strictObject({
  type: z.literal("score_model"),
  ...{ name, model, input: z.array(message).min(1) },
  range: z.tuple([z.number(), z.number()]).optional(),
  ...{ sampling_params, pass_threshold },
});

export const labelModel = z.strictObject({
  type: z.literal("label_model"),
  ...{ name, model, input: z.array(message).min(1) },
  labels: z.array(z.string().min(1)).min(1),
  passing_labels: z.array(z.string().min(1)).min(1),
  ...{ sampling_params, pass_threshold },
});

export const python = z.strictObject({
  type: z.literal("python"),
  name,
  source: z
    .string()
    .min(1)
    .refine((source) => Buffer.byteLength(source) < LARGEST_SOURCE_BYTES, {
      error: "must be smaller than 256 kB",
    }),
  image_tag: z.string().nullable().optional(),
  pass_threshold,
});

export const endpoint = z.strictObject({
  type: z.literal("endpoint"),
  name: name.optional(),
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()).nullable().optional(),
  rate_limit: z.number().positive().nullable().optional(),
  pass_threshold,
});

const SINGLE = {
  string_check: stringCheck,
  text_similarity: textSimilarity,
  score_model: scoreModel,
  label_model: labelModel,
  python,
  endpoint,
};

export type StringCheck = z.infer<typeof stringCheck>;
export type TextSimilarity = z.infer<typeof textSimilarity>;
export type ScoreModel = z.infer<typeof scoreModel>;
export type LabelModel = z.infer<typeof labelModel>;
export type PythonGrader = z.infer<typeof python>;
export type EndpointGrader = z.infer<typeof endpoint>;
export type SingleGrader = z.infer<(typeof SINGLE)[keyof typeof SINGLE]>;

export interface MultiGrader {
  readonly type: "multi";
  readonly name: string;
  readonly graders: Readonly<Record<string, SingleGrader>>;
  readonly calculate_output: string;
  readonly pass_threshold?: number | undefined;
}

export type Grader = SingleGrader | MultiGrader;
export type GraderType = Grader["type"];

const multi = z.strictObject({
  type: z.literal("multi"),
  name,
  /** Its members are read one by one, so that a message names the member. */
  graders: z.unknown(),
  calculate_output: z.string().min(1),
  pass_threshold,
});

const TYPES = [...Object.keys(SINGLE), "multi"].join(", ");

/** A grader of parsed JSON; `where` begins every message. */
export function readGrader(value: unknown, where: string): Grader {
  if (!isFields(value)) throw dataError(`${where}: a grader is a JSON object`, seeTypes());
  if (value.type !== "multi") return readSingle(value, where);
  const { graders, ...rest } = checked(multi, value, where);
  if (!isFields(graders) || Object.keys(graders).length === 0)
    throw dataError(`${where}: graders must be an object with one grader for each name`);
  const members = Object.entries(graders).map(([key, one]) => {
    const place = `${where}: graders.${key}`;
    requireVariable(key, place);
    if (!isFields(one)) throw dataError(`${place}: a grader is a JSON object`, seeTypes());
    if (one.type === "multi")
      throw dataError(`${place}: a multi grader cannot hold another one`, "Put its graders here.");
    return [key, readSingle(one, place)] as const;
  });
  return { ...rest, graders: Object.fromEntries(members) };
}

function readSingle(value: Record<string, unknown>, where: string): SingleGrader {
  const { type } = value;
  if (typeof type === "string" && Object.hasOwn(SINGLE, type))
    return checked(SINGLE[type as keyof typeof SINGLE] as z.ZodType<SingleGrader>, value, where);
  throw dataError(`${where}: type is ${shown(type)}, which is no type of grader`, seeTypes());
}

const seeTypes = () => `The types: ${TYPES}.`;

/** What the formula of a multi grader can name. */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;

function requireVariable(key: string, where: string): void {
  if (VARIABLE_NAME.test(key) && key !== "__proto__") return;
  throw dataError(
    `${where}: ${shown(key)} cannot be a variable of calculate_output`,
    "Use letters, digits and underscores, and begin with a letter.",
  );
}

function checked<T>(schema: z.ZodType<T>, value: Record<string, unknown>, where: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues as [z.core.$ZodIssue];
  throw dataError(`${where}: ${sentence(issue, value)}`, hintFor(issue, value));
}

function sentence(issue: z.core.$ZodIssue, value: Record<string, unknown>): string {
  const place = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const fields = issue.keys.map(shown).join(", ");
    return `${place === "" ? `a ${value.type} grader` : place} has no field ${fields}`;
  }
  const found = valueAt(value, issue.path);
  if (found === undefined && issue.code === "invalid_type") return `${place} is missing`;
  if (issue.code === "invalid_value")
    return `${place} is ${shown(found)}, not one of ${issue.values.map(String).join(", ")}`;
  return `${place}: ${issue.message}`;
}

function hintFor(issue: z.core.$ZodIssue, value: Record<string, unknown>): string | undefined {
  const found = valueAt(value, issue.path);
  if (issue.path[0] === "operation" && found === "neq")
    return 'Write "ne": "neq" in some guides is a misprint.';
  if (issue.path[0] === "evaluation_metric" && found === "cosine")
    return "cosine needs an embedding model, and exists in hosted evals only.";
  return undefined;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const step of path) found = (found as Record<PropertyKey, unknown> | undefined)?.[step];
  return found;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
