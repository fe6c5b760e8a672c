/** A matrix of prompts and models: the YAML file that asks for it, and matrix.json that it leaves. */

import { z } from "zod";
import { dataError, messageOf } from "../core/errors.ts";
import { parseWith, readText } from "./whole-file.ts";

/** Names become names of folders. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

const prompt = z
  .strictObject({
    /** The system prompt itself, or a file that holds it; neither: no system prompt. */
    system: z.string().optional(),
    file: z.string().optional(),
  })
  .refine(({ system, file }) => system === undefined || file === undefined, {
    message: "give system or file, not both",
  })
  .nullable();

export const matrixSpecSchema = z.strictObject({
  dataset: z.string(),
  prompts: z.record(z.string(), prompt),
  /** Policies as `rollout --policy` takes them. */
  models: z.record(z.string(), z.string()),
  /** PROMPT.MODEL; the first of both if absent. */
  baseline: z.string().optional(),
  /** Samples for each example; more than one are evaluated as repeats. */
  n: z.int().min(1).max(100_000).default(1),
  sampling: z
    .strictObject({
      temperature: z.number().min(0).max(100).default(1),
      top_p: z.number().gt(0).max(1).default(1),
      top_k: z.int().min(0).default(0),
      max_tokens: z.int().min(1).default(64),
      stop: z.array(z.string().min(1)).default([]),
      seed: z
        .int()
        .min(0)
        .max(2 ** 31 - 1)
        .default(0),
    })
    .prefault({}),
  scorer: z.string().optional(),
  /** Axes as `eval --axis` takes them. */
  axes: z.array(z.string()).default([]),
  /** Fields to slice by. */
  slice: z.array(z.string()).default([]),
  /** Requests at once to an endpoint. */
  concurrency: z.int().min(1).max(256).default(8),
});

export type MatrixSpec = z.infer<typeof matrixSpecSchema>;

/** `parse` turns YAML into values. */
export async function readMatrix(
  file: string,
  parse: (text: string) => unknown,
): Promise<MatrixSpec> {
  const text = await readText(file);
  let spec: MatrixSpec;
  try {
    spec = parseWith(matrixSpecSchema, parse(text));
  } catch (error) {
    throw dataError(
      `${file} is not a matrix: ${messageOf(error).split("\n")[0]}`,
      "It needs dataset, prompts and models; see lockedroom matrix --help.",
    );
  }
  for (const part of ["prompts", "models"] as const) {
    const names = Object.keys(spec[part]);
    if (names.length === 0)
      throw dataError(`${file} has no ${part}`, `Name at least one under ${part}.`);
    const odd = names.find((name) => !NAME.test(name));
    if (odd !== undefined) {
      throw dataError(
        `${file}: ${part} has the name ${JSON.stringify(odd)}, which cannot name a folder`,
        "Use letters, digits, _ and - in names.",
      );
    }
  }
  return spec;
}
