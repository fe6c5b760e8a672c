/** Whether a run still is what its command wrote. */

import { readFile } from "node:fs/promises";
import path from "node:path";
import { sha256 } from "../core/fingerprint.ts";
import type { Run } from "../runs/reader.ts";
import { Side } from "./side.ts";

/** The files of a run that were changed afterwards; empty when none was. */
export async function editedFiles(run: Run): Promise<string[]> {
  const side = new Side(run);
  try {
    for (let row = await side.read(); row; row = side.buffered() ?? (await side.read())) {
      side.count(row);
    }
  } finally {
    await side.close();
  }
  const others: string[] = [];
  for (const [name, hash] of Object.entries(run.summary.files)) {
    const bytes = await readFile(path.join(run.dir, name)).catch(() => undefined);
    if (bytes === undefined || sha256(bytes) !== hash) others.push(name);
  }
  return [...side.edited(), ...others];
}
