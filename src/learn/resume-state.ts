/** Everything that the next step of a training run depends on, saved as a whole. */

import path from "node:path";
import { z } from "zod";
import { dataError, messageOf } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { fillFolder, wholeFolder } from "../runs/replace-folder.ts";
import { STREAMS, type StreamBytes } from "../runs/train-folder.ts";
import { fileExists, readText, writeDurably } from "../runs/whole-file.ts";

const FOLDER = "state";
const FILE = "resume.json";

const SCHEMA = z.object({
  /** Steps done. */
  step: z.int().min(1),
  /** How long each stream is. */
  bytes: z.record(z.enum(STREAMS), z.int().min(0)),
  /** The source's own. */
  source: z.unknown(),
});

export interface ResumeState {
  readonly step: number;
  readonly bytes: StreamBytes;
  readonly source: unknown;
}

export async function saveResumeState(
  outdir: string,
  engine: Engine,
  state: ResumeState,
): Promise<void> {
  await fillFolder(path.join(outdir, FOLDER), async (folder) => {
    await engine.saveState(folder);
    await writeDurably(path.join(folder, FILE), `${JSON.stringify(state)}\n`);
  });
}

/** Where an interrupted run stopped; undefined when it had saved nothing yet. */
export async function readResumeState(outdir: string): Promise<ResumeState | undefined> {
  const folder = wholeFolder(path.join(outdir, FOLDER));
  if (!fileExists(folder)) return undefined;
  return undamaged(folder, async () =>
    SCHEMA.parse(JSON.parse(await readText(path.join(folder, FILE)))),
  );
}

export async function loadEngineState(outdir: string, engine: Engine): Promise<void> {
  const folder = wholeFolder(path.join(outdir, FOLDER));
  await undamaged(folder, () => engine.loadState(folder));
}

async function undamaged<T>(folder: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw dataError(`${folder} is damaged: ${messageOf(error)}`, "Start again with --force.");
  }
}
