/** matrix.json: the table that a matrix of prompts and models leaves. */

import path from "node:path";
import { z } from "zod";
import { fileExists, readArtifact } from "./whole-file.ts";

export const MATRIX = "matrix.json";

const figure = z.number().nullable();
const side = {
  /** The folder PROMPT.MODEL/run. */
  run: z.string(),
  pass_rate: figure,
  mean_reward: figure,
  n_scored: z.int(),
};

const matrixReportSchema = z.looseObject({
  baseline: z.looseObject(side),
  metric: z.enum(["pass rate", "mean reward"]),
  runs: z.array(
    z.looseObject({
      ...side,
      delta: figure,
      ci: z.looseObject({ low: z.number(), high: z.number() }).nullable(),
      p_holm: figure,
      changed: z.array(z.string()),
      refused: z.array(z.looseObject({ code: z.string(), message: z.string() })),
    }),
  ),
  slices: z
    .array(
      z.looseObject({
        field: z.string(),
        values: z.array(z.string()),
        rows: z.array(z.looseObject({ run: z.string(), figures: z.array(figure) })),
      }),
    )
    .optional(),
});

export type MatrixReport = z.infer<typeof matrixReportSchema>;

export const isMatrix = (dir: string): boolean => fileExists(path.join(dir, MATRIX));

export const readMatrixReport = (dir: string): Promise<MatrixReport> =>
  readArtifact(path.join(dir, MATRIX), matrixReportSchema, "Run the matrix again: matrix run.");
