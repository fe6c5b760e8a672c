/** Progress bars on stderr, only on a terminal. */

import { statSync } from "node:fs";
import type { JsonObject } from "../core/json.ts";
import type { TrainOptions } from "../learn/options.ts";
import type { OnProgress } from "../verify/part.ts";
import { bar, percent, warning } from "./terminal.ts";

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
  /** The total number of items, and how many an earlier session finished. */
  start(total: number, kept: number): void;
}

/** Items done, with tokens per second: for sampling and training. */
export function tokenProgress(label: string, quiet: boolean | undefined): TokenProgress {
  let line = new ProgressLine(label, quiet);
  const state = { total: 0, kept: 0, added: 0, tokens: 0 };
  const draw = () => line.draw((seconds) => tokenLine(state, seconds));
  return {
    start(total, kept) {
      Object.assign(state, { total, kept });
      line = new ProgressLine(label, quiet);
      draw();
    },
    add(tokens) {
      state.added++;
      state.tokens += tokens;
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

/** Of a training run: a bar, and always the alarms. */
export class TrainingProgress {
  readonly #quiet: boolean | undefined;
  #bar: TokenProgress | undefined;
  #label = "";

  constructor(quiet: boolean | undefined) {
    this.#quiet = quiet;
  }

  /** For `train` and `sweep`. */
  listeners({ steps }: JsonObject): Pick<TrainOptions, "onProgress" | "onStep" | "onAlarm"> {
    return {
      // Work before the first update, such as sampling training data.
      onProgress: (done, total, what) => {
        this.#begin(what, total, 0);
        if (done === total) this.stop();
        else this.#bar?.add(0);
      },
      onStep: (done, { tokens }) => {
        this.#begin("Training", Number(steps), done - 1);
        this.#bar?.add(Number(tokens));
      },
      onAlarm: ({ step, message, stops }) =>
        this.warn(`step ${step}${stops ? " (stops the run)" : ""}: ${message}`),
    };
  }

  warn(text: string): void {
    if (this.#quiet) return;
    this.stop();
    process.stderr.write(`${warning(text)}\n`);
  }

  stop(): void {
    this.#bar?.stop();
    this.#bar = undefined;
    this.#label = "";
  }

  #begin(label: string, total: number, done: number): void {
    if (this.#label === label) return;
    this.#bar?.stop();
    this.#label = label;
    this.#bar = tokenProgress(label, this.#quiet);
    this.#bar.start(total, done);
  }
}
