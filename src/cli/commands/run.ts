/** `lockedroom run` */

import type { Command } from "commander";
import { requireFile } from "../../extensions/module.ts";
import { runTypescript } from "../typescript.ts";

export const help = `Examples:
  lockedroom run assignments/kl_regularized_choice.ts
  lockedroom run my-program.ts first second`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description("Runs a TypeScript or JavaScript file, without a build.")
    .argument("<file>", 'the program; it may import from "lockedroom"')
    .argument("[arguments...]", "passed to the program unchanged")
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (file: string, args: string[]) => {
      requireFile(file, "program", "Name a .ts or .js file.");
      exit(await runTypescript(file, args));
    });
}
