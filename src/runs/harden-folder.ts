/** The folder of a finished `harden`: report.json is written last. */

import { readdir } from "node:fs/promises";
import path from "node:path";
import { usageError } from "../core/errors.ts";
import { HARDEN_SCHEMA } from "./harden-report.ts";
import { readIfThere, removeAll, toObject, writeWhole } from "./whole-file.ts";

const REPORT = "report.json";

/** Refuses a folder that holds anything else than an earlier report, which needs `force`. */
export async function prepareHardenFolder(dir: string, force: boolean): Promise<void> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw usageError(`${dir} is not a folder that can be used`, "Choose another --outdir.");
  });
  if (names.length === 0) return;
  const earlier = toObject((await readIfThere(path.join(dir, REPORT))) ?? "");
  if (earlier?.schema !== HARDEN_SCHEMA)
    throw usageError(`${dir} is not empty`, "Choose a new folder as --outdir.");
  if (!force)
    throw usageError(
      `${dir} already holds a report`,
      "Choose another --outdir, or overwrite it with --force.",
    );
}

export async function writeHardenFolder(
  dir: string,
  files: Readonly<Record<string, string>>,
  report: string,
): Promise<void> {
  await removeAll(dir, [REPORT]);
  for (const [name, text] of Object.entries(files)) await writeWhole(path.join(dir, name), text);
  await writeWhole(path.join(dir, REPORT), report);
}
