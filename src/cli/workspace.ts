/** The course workspace around the current folder, if any, and its scorer and selection policy. */

import { existsSync } from "node:fs";
import path from "node:path";
import { DEFAULT_SCORER } from "../scorers/load.ts";

const MARKER = "lockedroom.json";

/** The scorer given with --scorer, else the workspace's, else the built-in one. */
export async function scorerHere(given: string | undefined): Promise<string> {
  return given ?? (await fileHere("scorer")) ?? DEFAULT_SCORER;
}

/** The path of the workspace's selection policy. */
export async function policyHere(): Promise<string | undefined> {
  return fileHere("selection_policy");
}

async function fileHere(role: "scorer" | "selection_policy"): Promise<string | undefined> {
  if (!inWorkspace(process.cwd())) return undefined;
  // Loaded lazily: outside of a workspace no command needs the course.
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
