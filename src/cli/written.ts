/** Says where a run lies, and what is in it besides the five files of every run. */

import type { Summary } from "../runs/schemas.ts";
import { out, wrap } from "./terminal.ts";

export function printWritten(dir: string, { files }: Summary): void {
  const names = Object.keys(files).sort();
  out(wrap(`Run written to ${dir}${names.length > 0 ? ` (${names.join(", ")})` : ""}`));
}
