/** A policy as one standard .onnx file, weights inside: tokens in, logits out. */

import { usageError } from "../core/errors.ts";
import { toOnnx } from "../graph/onnx.ts";
import { feedsOf, inputsOf } from "../graph/parameters.ts";
import { sizeOf } from "../graph/shape.ts";
import { input } from "../graph/tensor.ts";
import { fileExists, writeWhole } from "../runs/whole-file.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { logitsOf } from "./transformer.ts";

export interface ExportOptions {
  /** Rows of every call. */
  readonly batch: number;
  /** Tokens of every row; shorter texts are padded at the end, which does not change earlier logits. */
  readonly length: number;
  /** Replace a file that is there. */
  readonly force?: boolean | undefined;
}

/** The limit of a protobuf message, which the file is. */
const MOST_BYTES = 2 ** 31 - 1;

/** The bytes of the file: `tokens` [batch, length] to `logits` [batch, length, vocabulary]. */
export function policyOnnx(
  { architecture, placed, parameters, maxLength }: Checkpoint,
  { batch, length }: ExportOptions,
): Uint8Array {
  if (length > maxLength) {
    throw usageError(
      `the policy takes at most ${maxLength} tokens, not ${length}`,
      `Choose a length of at most ${maxLength}.`,
    );
  }
  // The mask has a number for each pair of positions, and the rest of the graph is small.
  if (parameters.byteLength + sizeOf([length, length]) > MOST_BYTES - 2 ** 24) {
    throw usageError("the weights are more than one .onnx file can hold (2 GiB)");
  }
  const weights = new Map(Object.entries(feedsOf(parameters, placed)));
  const tokens = input("tokens", [batch, length], "i64");
  const logits = logitsOf(architecture, inputsOf(placed), tokens);
  return toOnnx({ logits }, { weights, standard: true }).bytes;
}

/** Writes the file, whole or not at all; returns its size. */
export async function exportPolicy(
  checkpoint: Checkpoint,
  file: string,
  options: ExportOptions,
): Promise<number> {
  if (fileExists(file) && !options.force) {
    throw usageError(
      `${file} exists already`,
      "Choose another name, or add --force to replace it.",
    );
  }
  const bytes = policyOnnx(checkpoint, options);
  await writeWhole(file, [bytes]);
  return bytes.length;
}
