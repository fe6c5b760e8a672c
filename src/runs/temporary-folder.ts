/** A folder outside of every run, for work whose files nobody keeps. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ioError } from "../core/errors.ts";

export async function withTemporaryFolder<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(path.join(tmpdir(), "lockedroom-")).catch((error) => {
    throw ioError("make a temporary folder", error);
  });
  try {
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true }).catch(() => {});
  }
}
