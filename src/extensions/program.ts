/** Whether a module was started as the program or imported. */

import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** For the end of a script: `if (isProgram(import.meta.url)) { … }`. */
export function isProgram(moduleUrl: string): boolean {
  const started = process.argv[1];
  if (started === undefined) return false;
  try {
    return realpathSync(started) === realpathSync(fileURLToPath(moduleUrl));
  } catch {
    return false; // A program that came from standard input has no file.
  }
}
