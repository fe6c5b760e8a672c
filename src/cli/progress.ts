/** A progress bar on stderr, only on a terminal. */

import { statSync } from "node:fs";
import { bar, percent } from "./terminal.ts";

export interface Progress {
  add(amount: number): void;
  stop(): void;
}

const SILENT: Progress = { add: () => {}, stop: () => {} };
const REDRAW_MS = 100;

export function startProgress(label: string, total: number, quiet: boolean | undefined): Progress {
  if (quiet || !process.stderr.isTTY || total <= 0) return SILENT;
  const started = Date.now();
  let done = 0;
  let drawn = started;
  return {
    add(amount) {
      done += amount;
      const now = Date.now();
      if (now - drawn < REDRAW_MS) return;
      drawn = now;
      const share = Math.min(1, done / total);
      const left = Math.ceil(((now - started) / 1000) * (1 / share - 1));
      process.stderr.write(
        `\r${label} ${bar(share).padEnd(24)} ${percent(share)}, ${left} s left \x1b[K`,
      );
    },
    stop() {
      if (drawn !== started) process.stderr.write("\r\x1b[K");
    },
  };
}

/** The total size of these files; a missing file counts as 0 and is reported when it is read. */
export function totalBytes(...files: string[]): number {
  return files.reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
