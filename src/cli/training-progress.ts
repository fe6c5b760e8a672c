/** Progress of a training run on stderr: a bar on a terminal, plain lines elsewhere. */

import type { TrainOptions } from "../learn/options.ts";
import { isStopCondition } from "../runs/stop-reasons.ts";
import { type TokenProgress, tokenProgress } from "./progress.ts";
import { err, warning } from "./terminal.ts";
import {
  figures,
  type HeldOut,
  scratchLines,
  stopLine,
  validationLines,
} from "./training-lines.ts";

type Listeners = Pick<
  TrainOptions,
  "onProgress" | "onStep" | "onAlarm" | "onScratch" | "onStop" | "onValidation"
>;

/** Plain lines of a run without a terminal, besides those of its validations. */
const LINES = 10;

interface ShownSettings {
  readonly steps: number;
  readonly batch: number;
  readonly heldOut?: HeldOut;
  readonly evaluate?: { readonly temperature: number; readonly max_tokens: number } | undefined;
}

/**
 * Of a training run: a bar on a terminal, else a line at intervals of steps, never of time, so that
 * the output is the same every time. Validations and alarms have their own lines on both.
 */
export class TrainingProgress {
  readonly #quiet: boolean | undefined;
  readonly #lines: boolean;
  #bar: TokenProgress | undefined;
  #label = "";

  constructor(quiet: boolean | undefined, { lines = true }: { readonly lines?: boolean } = {}) {
    this.#quiet = quiet;
    this.#lines = lines && !quiet;
  }

  /** For `train` and `sweep`. */
  listeners(settings: ShownSettings): Listeners {
    const { steps } = settings;
    let { evaluate: sampling } = settings;
    const every = Math.ceil(steps / LINES);
    return {
      // Work before the first update, such as sampling training data.
      onProgress: (done, total, what) => {
        this.#begin(what, total, 0);
        if (done === total) this.stop();
        else this.#bar?.add(0);
      },
      onStep: (done, record) => {
        this.#begin("Training", steps, done - 1);
        this.#bar?.add(Number(record.tokens), figures(record));
        if (process.stderr.isTTY || (done !== 1 && done % every !== 0 && done !== steps)) return;
        this.#say([`  step ${done} of ${steps}: ${figures(record)}`]);
      },
      onScratch: (policy) => this.#say(scratchLines(policy, settings)),
      onValidation: (record, samples) => {
        this.#say(validationLines(record, samples, sampling));
        sampling = undefined;
      },
      onAlarm: ({ step, message, stops }) =>
        this.warn(`step ${step}${stops ? " (stops the run)" : ""}: ${message}`),
      onStop: (stop) => {
        // An alarm has said so itself.
        if (isStopCondition(stop.reason)) this.#say([stopLine(stop)]);
      },
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

  #say(lines: readonly string[]): void {
    if (!this.#lines) return;
    this.stop();
    for (const line of lines) err(line);
  }

  #begin(label: string, total: number, done: number): void {
    if (this.#label === label) return;
    this.#bar?.stop();
    this.#label = label;
    this.#bar = tokenProgress(label, this.#quiet);
    this.#bar.start(total, done);
  }
}
