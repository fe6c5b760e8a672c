/** The commands: one line each for the help, and where each one lives. */

import type { Command } from "commander";

export interface CommandModule {
  /** Adds options and the action; `exit` sets the process's exit code. */
  define(command: Command, exit: (code: number) => void): Command;
}

interface Entry {
  readonly summary: string;
  load(): Promise<CommandModule>;
}

export const COMMANDS = {
  tour: {
    summary: "a guided first look, on embedded data",
    load: () => import("./commands/tour.ts"),
  },
  eval: {
    summary: "Loop A: score completions and write a run",
    load: () => import("./commands/eval.ts"),
  },
  "inspect-run": {
    summary: "see a run's outcomes, grouped by code",
    load: () => import("./commands/inspect-run.ts"),
  },
  "validate-scorer": {
    summary: "check a scorer against golden rows and probes",
    load: () => import("./commands/validate-scorer.ts"),
  },
  gate: {
    summary: "decide whether a candidate run may replace a baseline",
    load: () => import("./commands/gate.ts"),
  },
} satisfies Record<string, Entry>;

export type CommandName = keyof typeof COMMANDS;
