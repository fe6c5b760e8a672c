/**
 * Keeps one process that grades rows in order: starts it when it is needed, ends it when a row takes
 * too long, and starts another for the rows behind it.
 */

import { BadSource, type Graded, type Interpreter, type Limits } from "./interpreter.ts";
import type { Said } from "./messages.ts";

/** A process that was started. Whoever starts it translates what it says. */
export interface Started {
  send(row: string): void;
  end(): void;
  /** So that a process that waits for rows does not keep the program alive. */
  hold(busy: boolean): void;
}

export type Start = (hear: (said: Said) => void, gone: (why: string) => void) => Started;

interface Waiting {
  readonly row: string;
  resolve(graded: Graded): void;
}

/** Rows that wait in the process for the one before them, so that it is never without work. */
const AHEAD = 16;
const START_LIMIT_MS = 120_000;
/** After so many rows over the limit the rest is not tried. */
const MOST_TIMEOUTS = 3;
const NOT_TRIED = `not graded: ${MOST_TIMEOUTS} rows took longer than the time limit`;
/** WebAssembly gives no memory back: above this, the next row gets a new process. */
const LARGE_BYTES = 512 * 2 ** 20;

export class GraderProcess implements Interpreter {
  readonly #start: Start;
  readonly #limits: Limits;
  readonly #waiting: Waiting[] = [];
  #sent = 0;
  #started: Started | undefined;
  #opened: { resolve(): void; reject(error: Error): void } | undefined;
  #ready: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timeouts = 0;
  #runtime: string;

  /** `runtime` as far as it is known before the start. */
  constructor(start: Start, limits: Limits, runtime: string) {
    this.#start = start;
    this.#limits = limits;
    this.#runtime = runtime;
  }

  get runtime(): string {
    return this.#runtime;
  }

  ready(): Promise<void> {
    this.#ready ??= new Promise((resolve, reject) => {
      this.#opened = { resolve, reject };
      const started = this.#start(
        (said) => started === this.#started && this.#hear(said),
        (why) => started === this.#started && this.#gone(why),
      );
      this.#started = started;
      this.#limit(START_LIMIT_MS, () => this.#gone("Python did not start in time"));
    });
    return this.#ready;
  }

  async grade(row: string): Promise<Graded> {
    if (this.#timeouts >= MOST_TIMEOUTS) return { error: NOT_TRIED };
    const graded = new Promise<Graded>((resolve) => this.#waiting.push({ row, resolve }));
    this.#next();
    return graded;
  }

  async close(): Promise<void> {
    this.#end("the grader was closed");
    for (const { resolve } of this.#waiting.splice(0)) resolve({ lost: "the grader was closed" });
  }

  /** Sends what may be sent. */
  #next(): void {
    if (this.#waiting.length === 0) return;
    this.ready().then(
      () => this.#send(),
      (error: Error) => {
        for (const { resolve } of this.#waiting.splice(0))
          resolve(error instanceof BadSource ? { error: error.message } : { lost: error.message });
      },
    );
  }

  #send(): void {
    if (!this.#started || this.#opened) return;
    while (this.#sent < Math.min(AHEAD, this.#waiting.length)) {
      this.#started.send((this.#waiting[this.#sent] as Waiting).row);
      if (this.#sent++ === 0) this.#limitRow();
    }
    this.#started.hold(this.#sent > 0);
  }

  #hear(said: Said): void {
    if ("broken" in said) this.#gone(said.broken);
    else if ("opened" in said) this.#heardOpened(said.opened);
    else this.#heardAnswer(said);
  }

  #heardOpened({ error, runtime }: { readonly error?: string; readonly runtime: string }): void {
    clearTimeout(this.#timer);
    this.#runtime = runtime;
    if (error === undefined) this.#opened?.resolve();
    else this.#opened?.reject(new BadSource(error));
    this.#opened = undefined;
    this.#started?.hold(false);
  }

  #heardAnswer({ answer, memoryBytes }: { readonly answer: string; readonly memoryBytes: number }) {
    clearTimeout(this.#timer);
    this.#sent--;
    this.#waiting.shift()?.resolve(JSON.parse(answer) as Graded);
    if (this.#sent > 0) this.#limitRow();
    if (memoryBytes > LARGE_BYTES) this.#end("its memory is large");
    this.#started?.hold(this.#sent > 0);
    this.#next();
  }

  #limitRow(): void {
    const { seconds } = this.#limits;
    this.#limit(1000 * seconds, () => {
      this.#timeouts++;
      this.#lose({ error: `grade did not return within ${seconds} s` });
    });
  }

  #limit(ms: number, late: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(late, ms);
  }

  /** The process ended by itself, or has to be: the row that it was at has no grade. */
  #gone(why: string): void {
    if (this.#opened) {
      this.#opened.reject(new Error(why));
      this.#opened = undefined;
      this.#end(why);
    } else this.#lose({ error: `the Python process ended: ${why}` });
  }

  #lose(graded: Graded): void {
    const failed = this.#sent > 0 ? this.#waiting.shift() : undefined;
    this.#end("a row ended it");
    failed?.resolve(graded);
    this.#dropIfHung();
    this.#next();
  }

  #dropIfHung(): void {
    if (this.#timeouts < MOST_TIMEOUTS) return;
    for (const { resolve } of this.#waiting.splice(0)) resolve({ error: NOT_TRIED });
  }

  #end(why: string): void {
    clearTimeout(this.#timer);
    this.#opened?.reject(new Error(why));
    this.#opened = undefined;
    const started = this.#started;
    this.#started = undefined;
    this.#ready = undefined;
    this.#sent = 0;
    started?.end();
  }
}
