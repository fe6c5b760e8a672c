/** A part of a command with options of its own: `judge serve`. */

import type { Command } from "commander";

export interface Subcommand {
  /** In a line of the list. */
  readonly summary: string;
  readonly description: string;
  /** What follows its name; "[options]" where it has no arguments. */
  readonly usage?: string;
  /** Printed after the options. */
  readonly help: string;
  /** Adds options and an action, whose first argument is the subcommand's name. */
  define(command: Command, exit: (code: number) => void): void;
}
