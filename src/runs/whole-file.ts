/** A file that is there as a whole or not at all. */

import { open, rename } from "node:fs/promises";

export async function writeWhole(file: string, content: string): Promise<void> {
  const handle = await open(`${file}.partial`, "w");
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.partial`, file);
}
