/** A progress bar of a rollout on stderr, only where a person watches. */

import { bar } from "./terminal.ts";

export interface AnswerProgress {
  /** How many answers are wanted, and how many are there already. */
  start(wanted: number, kept: number): void;
  add(tokens: number): void;
  stop(): void;
}

const REDRAW_MS = 100;

export function answerProgress(label: string, quiet: boolean | undefined): AnswerProgress {
  if (quiet || !process.stderr.isTTY) return { start() {}, add() {}, stop() {} };
  const state = { wanted: 0, kept: 0, added: 0, tokens: 0 };
  let started = Date.now();
  let drawn = 0;
  const draw = (now: number) => {
    drawn = now;
    process.stderr.write(`\r${label} ${progressLine(state, (now - started) / 1000)} \x1b[K`);
  };
  return {
    start(wanted, kept) {
      Object.assign(state, { wanted, kept });
      started = Date.now();
      draw(started);
    },
    add(tokens) {
      state.added++;
      state.tokens += tokens;
      const now = Date.now();
      if (now - drawn >= REDRAW_MS) draw(now);
    },
    stop() {
      if (drawn > 0) process.stderr.write("\r\x1b[K");
      drawn = 0;
    },
  };
}

export interface AnswerState {
  readonly wanted: number;
  /** From an earlier sitting: done, but no measure of the speed. */
  readonly kept: number;
  readonly added: number;
  readonly tokens: number;
}

export function progressLine(
  { wanted, kept, added, tokens }: AnswerState,
  seconds: number,
): string {
  const done = kept + added;
  const count = `${bar(wanted > 0 ? done / wanted : 0, 16).padEnd(16)} ${done} of ${wanted}`;
  if (added === 0 || seconds <= 0) return count;
  const left = Math.ceil((seconds / added) * (wanted - done));
  return `${count}, ${Math.round(tokens / seconds)} tokens/s, ${left} s left`;
}
