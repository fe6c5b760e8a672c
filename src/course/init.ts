/**
 * Creates a workspace, or completes one: existing files are never overwritten, so `init` on an
 * existing workspace restores missing files and links it to this installation.
 */

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { ioError, LockedRoomError, usageError } from "../core/index.ts";
import { Git } from "./git.ts";
import {
  DEFAULT_CONFIG,
  linkPackage,
  MARKER,
  PACKAGE_ROOT,
  readConfig,
  TEMPLATES,
} from "./workspace.ts";

const TEST_SCRIPT = "node ./lockedroom test";

export interface InitResult {
  /** True when there was no workspace before. */
  readonly fresh: boolean;
  /** Files that were written, relative to the workspace. */
  readonly written: readonly string[];
  /** False when git is not installed. */
  readonly git: boolean;
}

/** Files that a folder may have before it becomes a workspace. */
const IGNORED = new Set([
  ...["node_modules", "package.json", "package-lock.json", ".git", ".gitignore", "README.md"],
  ".DS_Store",
]);

export async function initWorkspace(dir: string): Promise<InitResult> {
  const fresh = !existsSync(path.join(dir, MARKER));
  if (fresh) refuseOccupied(dir);
  else readConfig(dir);
  const adopted = fresh ? adoptedPackage(path.join(dir, "package.json")) : undefined;
  const written: string[] = [];
  /** Adds a file that is missing; an interrupted write leaves no half-written file under its name. */
  const add = async (name: string, content: string | Uint8Array) => {
    const file = path.join(dir, name);
    if (existsSync(file)) return;
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(`${file}.partial`, content);
    await rename(`${file}.partial`, file);
    written.push(name);
  };
  try {
    await mkdir(dir, { recursive: true });
    // Written first, so that a second init completes an interrupted one.
    await add(MARKER, `${JSON.stringify(DEFAULT_CONFIG, null, 2)}\n`);
    for (const file of filesUnder(TEMPLATES)) {
      // Named without the dot, since npm does not pack .gitignore and git would apply it here.
      const name = file.replace(/^git(?=ignore$|attributes$)/, ".git");
      await add(name, readFileSync(path.join(TEMPLATES, file)));
    }
    for (const file of filesUnder(path.join(PACKAGE_ROOT, "data"))) {
      await add(path.join("data", file), readFileSync(path.join(PACKAGE_ROOT, "data", file)));
    }
    for (const folder of ["runs", "posts"]) await add(`${folder}/.gitkeep`, "");
    await chmod(path.join(dir, "lockedroom"), 0o755);
    if (adopted !== undefined) await writeFile(path.join(dir, "package.json"), adopted);
    linkPackage(dir, { replace: true });
  } catch (error) {
    throw ioError(`create the workspace ${dir}`, error, "usage");
  }
  return { fresh, written, git: await startHistory(dir, fresh) };
}

/** An existing package.json of npm init, with our test script in place of npm's placeholder. */
function adoptedPackage(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const found = readPackage(file);
  const { test = "no test specified" } = found.scripts ?? {};
  if (!test.includes("no test specified")) return undefined;
  const ours = { ...found, type: "module", scripts: { ...found.scripts, test: TEST_SCRIPT } };
  return `${JSON.stringify(ours, null, 2)}\n`;
}

function readPackage(file: string): { readonly scripts?: Record<string, string> } {
  try {
    const found = JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
    if (typeof found === "object" && found !== null && !Array.isArray(found)) return found;
  } catch {
    // Reported below.
  }
  throw usageError(
    `${file} cannot be read as a package.json`,
    "Fix it or move it away. Nothing was written.",
  );
}

function refuseOccupied(dir: string): void {
  if (!existsSync(dir)) return;
  if (!statSync(dir).isDirectory()) {
    throw usageError(`${dir} is a file`, "Name a new folder.");
  }
  const others = readdirSync(dir).filter((name) => !IGNORED.has(name));
  if (others.length === 0) return;
  throw usageError(
    `${dir} is not empty (${others.slice(0, 3).join(", ")}) and is not a workspace`,
    `Name a new folder. If this is a workspace without its ${MARKER}, restore it: git checkout -- ${MARKER}`,
  );
}

/** Commits the new workspace; false when git is not installed. */
async function startHistory(dir: string, fresh: boolean): Promise<boolean> {
  if (!fresh && existsSync(path.join(dir, ".git"))) return true;
  try {
    await Git.create(dir, "Start");
    return true;
  } catch (error) {
    if (error instanceof LockedRoomError && error.message.includes("git was not found"))
      return false;
    throw error;
  }
}

function filesUnder(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();
}
