/** Runs a TypeScript program as a child process with the same terminal and environment. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { childProgram } from "../course/child.ts";
import { findWorkspace, linkPackage } from "../course/workspace.ts";

/** The exit code of the program. */
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
