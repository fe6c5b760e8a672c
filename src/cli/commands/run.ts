import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Command } from "commander";
import { childProgram } from "../../course/child.ts";
import { findWorkspace, linkPackage } from "../../course/workspace.ts";
import { requireFile } from "../../extensions/module.ts";

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

/** Runs it in a child process with the same terminal and environment; returns its exit code. */
export async function runTypescript(
  file: string,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<number> {
  const workspace = findWorkspace(process.cwd());
  if (workspace) linkPackage(workspace);
  const child = spawn(process.execPath, [...flags, ...childProgram(file), ...args], {
    stdio: "inherit",
  });
  const [code] = await once(child, "close");
  return code ?? 1;
}
