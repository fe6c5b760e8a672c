/** A folder for work whose files nobody keeps; it is removed at the end, and when a signal ends the process. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ioError } from "../core/index.ts";
import { killRunning } from "./child.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function withScratch<T>(
  prefix: string,
  work: (dir: string) => Promise<T>,
): Promise<T> {
  const dir = make(prefix);
  const cleanUp = () => rmSync(dir, { recursive: true, force: true });
  const leave = (signal: NodeJS.Signals) => {
    // What still runs in the folder would write to it again.
    killRunning();
    cleanUp();
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, leave);
  process.once("exit", cleanUp);
  try {
    return await work(dir);
  } finally {
    cleanUp();
    process.off("exit", cleanUp);
    for (const signal of SIGNALS) process.off(signal, leave);
  }
}

function make(prefix: string): string {
  try {
    return realpathSync(mkdtempSync(path.join(tmpdir(), prefix)));
  } catch (error) {
    throw ioError(`create a scratch folder in ${tmpdir()}`, error);
  }
}
