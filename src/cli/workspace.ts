/** The workspace that the command was called in, if any, and what it brings along. */

import { existsSync } from "node:fs";
import path from "node:path";
import { DEFAULT_SCORER } from "../scorers/load.ts";

const MARKER = "lockedroom.json";

/** The workspace's verifier, or the built-in one; `given` is what --scorer named. */
export async function scorerHere(given: string | undefined): Promise<string> {
  return given ?? (await fileHere("scorer")) ?? DEFAULT_SCORER;
}

/** The workspace's selection policy, as --policy would name it. */
export async function policyHere(): Promise<string | undefined> {
  return fileHere("selection_policy");
}

async function fileHere(role: "scorer" | "selection_policy"): Promise<string | undefined> {
  if (!inWorkspace(process.cwd())) return undefined;
  // Only here: outside of a workspace no command pays for loading the course.
  const { findWorkspace, readConfig } = await import("../course/workspace.ts");
  const dir = findWorkspace(process.cwd());
  return dir && path.relative("", path.join(dir, readConfig(dir)[role]));
}

function inWorkspace(from: string): boolean {
  for (let dir = from; ; dir = path.dirname(dir)) {
    if (existsSync(path.join(dir, MARKER))) return true;
    if (dir === path.dirname(dir)) return false;
  }
}
