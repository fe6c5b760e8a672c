/** How a learner's TypeScript is loaded, wherever it runs. */

import { fileURLToPath } from "node:url";
import type { JitiOptions } from "jiti";

/** Stands for a cache folder where nothing is to be kept. */
export const NO_CACHE = "-";

export function jitiOptions(cache: string): JitiOptions {
  // Never the shared folder that is jiti's default: others may write there.
  return { tryNative: false, fsCache: cache === NO_CACHE ? false : cache };
}

/** Arguments with which Node runs a TypeScript file as a program. */
export function typescriptProgram(file: string, cache: string = NO_CACHE): string[] {
  return [fileURLToPath(new URL("./run-file.js", import.meta.url)), cache, file];
}
