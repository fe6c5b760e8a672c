/** Reads a record of another program by a schema; the error says which field is wrong. */

import { z } from "zod";
import { messageOf } from "../core/errors.ts";
import { parseWith } from "../runs/whole-file.ts";

/** `what` begins the sentence, such as "not an ATIF document". */
export function parsed<T>(schema: z.ZodType<T>, record: unknown, what: string): T {
  try {
    return parseWith(schema, record);
  } catch (error) {
    throw new TypeError(`${what}: ${messageOf(error)}`);
  }
}

/** Of any type, or left out. */
export const anything = z.unknown().optional();
export const numbers = z.record(z.string(), z.number());
export const someNumbers = z.array(z.number()).nullish();
