/** Prints the folder of a run, and its files besides the five that every run has. */

import type { Summary } from "../runs/schemas.ts";
import { out, wrap } from "./terminal.ts";

export function printWritten(dir: string, { files }: Summary): void {
  const names = Object.keys(files).sort();
  out(wrap(`Run written to ${dir}${names.length > 0 ? ` (${names.join(", ")})` : ""}`));
}
