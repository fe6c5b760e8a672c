/** Progress bars on stderr, only on a terminal. */

import { statSync } from "node:fs";
import type { OnProgress } from "../verify/part.ts";
import { bar, percent } from "./terminal.ts";

const REDRAW_MS = 100;

/** A line that is drawn at most every 100 ms; `text` gets the seconds since the start. */
class ProgressLine {
  readonly #label: string | undefined;
  readonly #started = Date.now();
  #drawn = 0;

  constructor(label: string, quiet: boolean | undefined) {
    this.#label = quiet || !process.stderr.isTTY ? undefined : label;
  }

  draw(text: (seconds: number) => string): void {
    const now = Date.now();
    if (this.#label === undefined || now - this.#drawn < REDRAW_MS) return;
    this.#drawn = now;
    process.stderr.write(`\r${this.#label} ${text((now - this.#started) / 1000)} \x1b[K`);
  }

  stop(): void {
    if (this.#drawn > 0) process.stderr.write("\r\x1b[K");
    this.#drawn = 0;
  }
}

export interface Progress {
  add(amount: number): void;
  stop(): void;
}

/** The share of input bytes that have been read. */
export function startProgress(label: string, total: number, quiet: boolean | undefined): Progress {
  const line = new ProgressLine(label, quiet || total <= 0);
  let done = 0;
  return {
    add(amount) {
      done += amount;
      const share = Math.min(1, done / total);
      line.draw((seconds) => {
        const left = Math.ceil(seconds * (1 / share - 1));
        return `${bar(share).padEnd(24)} ${percent(share)}, ${left} s left`;
      });
    },
    stop: () => line.stop(),
  };
}

/** One bar after another, each named for what is being made again. */
export function stagedProgress(quiet: boolean | undefined): {
  readonly show: OnProgress;
  stop(): void;
} {
  let bar: Progress | undefined;
  let [label, before] = ["", 0];
  const stop = () => bar?.stop();
  return {
    show(what, done, total) {
      if (what !== label) {
        stop();
        bar = startProgress(what, total, quiet);
        [label, before] = [what, 0];
      }
      bar?.add(done - before);
      before = done;
    },
    stop,
  };
}

/** The total size of these files; a missing file counts as 0 and is reported when it is read. */
export function totalBytes(...files: string[]): number {
  return files.reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** `add` is one item with its number of tokens. */
export interface TokenProgress extends Progress {
  add(tokens: number, words?: string): void;
  /** The total number of items, and how many an earlier session finished. */
  start(total: number, kept: number): void;
}

/** Items done, with tokens per second: for sampling and training. */
export function tokenProgress(label: string, quiet: boolean | undefined): TokenProgress {
  let line = new ProgressLine(label, quiet);
  const state = { total: 0, kept: 0, added: 0, tokens: 0 };
  let said = "";
  const draw = () =>
    line.draw((seconds) => tokenLine(state, seconds) + (said === "" ? "" : `, ${said}`));
  return {
    start(total, kept) {
      Object.assign(state, { total, kept });
      line = new ProgressLine(label, quiet);
      draw();
    },
    add(tokens, words = "") {
      state.added++;
      state.tokens += tokens;
      said = words;
      draw();
    },
    stop: () => line.stop(),
  };
}

export interface TokenState {
  readonly total: number;
  /** From an earlier session; not counted in the speed. */
  readonly kept: number;
  readonly added: number;
  readonly tokens: number;
}

export function tokenLine({ total, kept, added, tokens }: TokenState, seconds: number): string {
  const done = kept + added;
  const count = `${bar(total > 0 ? done / total : 0, 16).padEnd(16)} ${done} of ${total}`;
  if (added === 0 || seconds <= 0) return count;
  const left = Math.ceil((seconds / added) * (total - done));
  return `${count}, ${Math.round(tokens / seconds)} tokens/s, ${left} s left`;
}
