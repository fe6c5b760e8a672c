/** Which rows are sampled again: all, or so many by a seed that is drawn after the run was made. */

import { randomBytes } from "node:crypto";
import { rngAt, shuffled } from "../core/rng.ts";

export interface Draw {
  readonly seed: string;
  readonly rows: number;
}

/** From the operating system: whoever made the run could not know it. */
export function newDraw(): string {
  return randomBytes(16).toString("hex");
}

/** The places of the drawn rows. `content` is a hash of the rows, so that no seed fits every run. */
export function drawnRows({ seed, rows }: Draw, total: number, content: string): Set<number> {
  const places = Array.from({ length: total }, (_, i) => i);
  return new Set(shuffled(places, rngAt("verify", seed, content)).slice(0, rows));
}
