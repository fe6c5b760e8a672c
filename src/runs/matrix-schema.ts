/** A matrix of prompts and models: the YAML file that asks for it, and matrix.json that it leaves. */

import { z } from "zod";
import { dataError, LockedRoomError, messageOf } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import { nearestName } from "../core/spelling.ts";
import { visibleShort } from "../core/visible.ts";
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

/** The keys of the file, and of the parts of it that have fixed keys. */
const KEYS: Record<string, readonly string[]> = {
  "": Object.keys(matrixSpecSchema.shape),
  sampling: Object.keys(matrixSpecSchema.shape.sampling.unwrap().shape),
};

function refuseUnknownKeys(file: string, given: unknown): void {
  if (!isFields(given)) return;
  for (const [part, known] of Object.entries(KEYS)) {
    const within = part === "" ? given : given[part];
    if (!isFields(within)) continue;
    const odd = Object.keys(within).find((key) => !known.includes(key));
    if (odd === undefined) continue;
    const near = nearestName(odd, known);
    const where = part === "" ? "" : ` in ${part}`;
    throw dataError(
      `${file}: unknown key ${visibleShort(odd, 40)}${where}`,
      `${near === undefined ? "" : `Did you mean ${near}? `}The keys are ${known.join(", ")}.`,
    );
  }
}

/** `parse` turns YAML into values. */
export async function readMatrix(
  file: string,
  parse: (text: string) => unknown,
): Promise<MatrixSpec> {
  const text = await readText(file);
  let spec: MatrixSpec;
  try {
    const given = parse(text);
    refuseUnknownKeys(file, given);
    spec = parseWith(matrixSpecSchema, given);
  } catch (error) {
    if (error instanceof LockedRoomError) throw error;
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
