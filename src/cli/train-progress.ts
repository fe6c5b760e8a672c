/** Progress of a training run on stderr: a bar on a terminal, and always the alarms. */

import type { Alarm, StepRecord } from "../runs/train-records.ts";
import { type TokenProgress, tokenProgress } from "./progress.ts";
import { paint, wrap } from "./terminal.ts";

export class TrainingProgress {
  readonly #quiet: boolean | undefined;
  #bar: TokenProgress | undefined;
  #label = "";

  constructor(quiet: boolean | undefined) {
    this.#quiet = quiet;
  }

  /** Work before the first update, such as sampling training data. */
  preparing(done: number, total: number, what: string): void {
    this.#begin(what, total, 0);
    if (done === total) this.stop();
    else this.#bar?.add(0);
  }

  step(done: number, total: number, record: StepRecord): void {
    this.#begin("Training", total, done - 1);
    this.#bar?.add(Number(record.tokens));
  }

  alarm({ step, message, stops }: Alarm): void {
    this.warn(`step ${step}${stops ? " (stops the run)" : ""}: ${message}`);
  }

  warn(text: string): void {
    if (this.#quiet) return;
    this.stop();
    process.stderr.write(`${paint("yellow", wrap(`! ${text}`, "  "))}\n`);
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
