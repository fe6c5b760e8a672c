/**
 * What the documentation of the API leaves open, as settings that stand beside a grader in its file:
 * `{ "grader": { … }, "settings": { "fuzzy_match": "WRatio" } }`.
 */

import { z } from "zod";
import { dataError } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import { type Grader, readGrader } from "./grader-schema.ts";
import { BLEU_VARIANTS } from "./similarity/bleu.ts";
import { FUZZY_VARIANTS } from "./similarity/index.ts";

export const settingsSchema = z.strictObject({
  /** Which function of rapidfuzz. */
  fuzzy_match: z.enum(FUZZY_VARIANTS).default("ratio"),
  /** Which BLEU. */
  bleu: z.enum(BLEU_VARIANTS).default("nltk"),
  /** The base of `log` in a formula. */
  log_base: z.enum(["e", "10", "2"]).default("e"),
  /** How a value of a template that is not a string becomes text. */
  objects: z.enum(["canonical_json", "python_json"]).default("canonical_json"),
  /** A row that cannot be graded gets 0, as in hosted training, and not an error. */
  azure_errors: z.boolean().default(false),
  /** How long a python grader may take for one row. */
  python_seconds: z.number().positive().max(86_400).default(120),
  /** How much memory it may use. */
  python_memory_mb: z.int().min(64).max(4096).default(2048),
  /** How long an endpoint may take for one answer. */
  endpoint_seconds: z.number().positive().max(3600).default(600),
});

export type GraderSettings = z.infer<typeof settingsSchema>;

/** What a grader's file holds. */
export interface GraderFile {
  readonly grader: Grader;
  readonly settings: GraderSettings;
}

/** A grader alone, or one with settings; also the body of the API's `validate`. */
export function readGraderFile(value: unknown, where: string): GraderFile {
  const wrapped =
    isFields(value) && !Object.hasOwn(value, "type") && Object.hasOwn(value, "grader");
  if (!wrapped) return { grader: readGrader(value, where), settings: settingsSchema.parse({}) };
  const { grader, settings = {}, ...others } = value;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw dataError(`${where}: "${other}" is neither "grader" nor "settings"`);
  return { grader: readGrader(grader, where), settings: readSettings(settings, where) };
}

function readSettings(value: unknown, where: string): GraderSettings {
  const result = settingsSchema.safeParse(value);
  if (result.success) return result.data;
  const names = Object.keys(settingsSchema.shape).join(", ");
  throw dataError(
    `${where}: settings: ${z.prettifyError(result.error).split("\n")[0]?.replace(/^✖ /, "")}`,
    `The settings: ${names}.`,
  );
}

/** The JSON of a grader's file; a byte order mark is allowed. */
export function parseJsonFile(text: string, where: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    throw dataError(`${where} is not JSON: ${(error as Error).message}`, "Correct the file.");
  }
}
