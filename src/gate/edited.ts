/** Whether a run still is what its command wrote. */

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
    if ((await run.hashOf(name)) !== hash) others.push(name);
  }
  return [...side.edited(), ...others];
}
