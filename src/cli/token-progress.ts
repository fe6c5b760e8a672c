/** A progress bar for sampling and training on stderr, with tokens per second; only on a terminal. */

import { bar } from "./terminal.ts";

export interface TokenProgress {
  /** The total number of items, and how many an earlier session finished. */
  start(total: number, kept: number): void;
  add(tokens: number): void;
  stop(): void;
}

const REDRAW_MS = 100;

export function tokenProgress(label: string, quiet: boolean | undefined): TokenProgress {
  if (quiet || !process.stderr.isTTY) return { start() {}, add() {}, stop() {} };
  const state = { total: 0, kept: 0, added: 0, tokens: 0 };
  let started = Date.now();
  let drawn = 0;
  const draw = (now: number) => {
    drawn = now;
    process.stderr.write(`\r${label} ${progressLine(state, (now - started) / 1000)} \x1b[K`);
  };
  return {
    start(total, kept) {
      Object.assign(state, { total, kept });
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

export interface TokenState {
  readonly total: number;
  /** From an earlier session; not counted in the speed. */
  readonly kept: number;
  readonly added: number;
  readonly tokens: number;
}

export function progressLine({ total, kept, added, tokens }: TokenState, seconds: number): string {
  const done = kept + added;
  const count = `${bar(total > 0 ? done / total : 0, 16).padEnd(16)} ${done} of ${total}`;
  if (added === 0 || seconds <= 0) return count;
  const left = Math.ceil((seconds / added) * (total - done));
  return `${count}, ${Math.round(tokens / seconds)} tokens/s, ${left} s left`;
}
