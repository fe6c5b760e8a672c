/** Where a path that a run recorded may lead, seen from the folder of the run. */

import path from "node:path";

/**
 * A relative path was given in the folder where the command ran, which is usually above the run: each
 * folder above it is tried, the nearest first. The current folder plays no part.
 */
export function recordedPlaces(runDir: string, recorded: string): string[] {
  if (path.isAbsolute(recorded)) return [recorded];
  const places: string[] = [];
  for (let dir = path.resolve(runDir); ; dir = path.dirname(dir)) {
    places.push(path.join(dir, recorded));
    if (path.dirname(dir) === dir) return places;
  }
}
