/** Where a training run is: everything that its next step depends on, saved as a whole. */

import path from "node:path";
import { dataError, messageOf } from "../core/errors.ts";
import { readSafetensors, safetensorsBytes } from "../policy/safetensors.ts";
import { replaceFolder, wholeFolder } from "../runs/replace-folder.ts";
import type { StreamBytes } from "../runs/train-folder.ts";
import { fileExists, readText } from "../runs/whole-file.ts";
import type { Memory } from "./algorithm.ts";
import type { TrainState } from "./trainer.ts";

const POSITION = "position.json";
const TENSORS = "state.safetensors";

export interface Position {
  /** Steps done. */
  readonly step: number;
  readonly state: TrainState;
  readonly memory: Memory;
  readonly bytes: StreamBytes;
}

export async function savePosition(outdir: string, position: Position): Promise<void> {
  const { step, memory, bytes, state } = position;
  const { step: moves, ...vectors } = state;
  const tensors = Object.entries(vectors).map(([name, data]) => ({
    ...{ name, data },
    shape: [data.length],
  }));
  await replaceFolder(path.join(outdir, "state"), {
    [TENSORS]: safetensorsBytes(tensors),
    [POSITION]: `${JSON.stringify({ step, moves, memory, bytes })}\n`,
  });
}

/** Where an earlier sitting left off; undefined when it had saved nothing yet. */
export async function readPosition(outdir: string): Promise<Position | undefined> {
  const folder = wholeFolder(path.join(outdir, "state"));
  if (!fileExists(folder)) return undefined;
  try {
    const text = await readText(path.join(folder, POSITION));
    const { step, moves, memory, bytes } = JSON.parse(text);
    const tensors = await readSafetensors(path.join(folder, TENSORS));
    const [parameters, m, v] = ["parameters", "m", "v"].map((name) => tensors.get(name)?.data);
    if (!parameters || !m || !v || !Number.isInteger(step) || !Number.isInteger(moves)) {
      throw new Error("something is missing");
    }
    return { step, memory, bytes, state: { step: moves, parameters, m, v } };
  } catch (error) {
    throw dataError(`${folder} is damaged: ${messageOf(error)}`, "Begin anew with --force.");
  }
}
