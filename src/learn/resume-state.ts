/** Where a training run is: everything that its next step depends on, saved as a whole. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { dataError, messageOf } from "../core/errors.ts";
import { replaceFolder, wholeFolder } from "../policy/replace-folder.ts";
import { readSafetensors, safetensorsBytes } from "../policy/safetensors.ts";
import type { StreamBytes } from "../runs/train-folder.ts";
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
  if (!existsSync(folder)) return undefined;
  try {
    const { step, moves, memory, bytes } = JSON.parse(
      await readFile(path.join(folder, POSITION), "utf8"),
    );
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
