/**
 * Makes a workspace, or completes one: what is there is never overwritten, so that `init` on an
 * existing workspace restores what was lost and links it to this installation.
 */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { chmod, copyFile, mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { ioError, LockedRoomError, usageError } from "../core/index.ts";
import { Git } from "./git.ts";
import { DEFAULT_CONFIG, MARKER, readConfig } from "./workspace.ts";

/** The package that runs: templates and data lie in it, and workspaces link to it. */
export const PACKAGE_ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const TEMPLATES = path.join(PACKAGE_ROOT, "templates/workspace");

const TEST_SCRIPT = "node ./lockedroom test";

export interface Made {
  /** True when there was no workspace before. */
  readonly fresh: boolean;
  /** Files that were written, relative to the workspace. */
  readonly written: readonly string[];
  /** False when git is not installed. */
  readonly git: boolean;
}

/** What may lie in a folder that is about to become a workspace. */
const HARMLESS = new Set([
  ...["node_modules", "package.json", "package-lock.json", ".git", ".gitignore", "README.md"],
  ".DS_Store",
]);

export async function initWorkspace(dir: string): Promise<Made> {
  const fresh = !existsSync(path.join(dir, MARKER));
  if (fresh) refuseOccupied(dir);
  else readConfig(dir);
  const adopted = fresh ? adoptedPackage(path.join(dir, "package.json")) : undefined;
  const written: string[] = [];
  try {
    await mkdir(dir, { recursive: true });
    // First, so that an interrupted init is a workspace that a second init completes.
    await write(dir, MARKER, `${JSON.stringify(DEFAULT_CONFIG, null, 2)}\n`, written);
    for (const file of filesUnder(TEMPLATES)) {
      // npm leaves files out whose names begin so, and git would obey the templates' own.
      const name = file.replace(/^git(?=ignore$|attributes$)/, ".git");
      await copy(path.join(TEMPLATES, file), dir, name, written);
    }
    for (const file of filesUnder(path.join(PACKAGE_ROOT, "data"))) {
      await copy(path.join(PACKAGE_ROOT, "data", file), dir, path.join("data", file), written);
    }
    for (const folder of ["runs", "posts"]) await write(dir, `${folder}/.gitkeep`, "", written);
    await chmod(path.join(dir, "lockedroom"), 0o755);
    if (adopted !== undefined) await writeFile(path.join(dir, "package.json"), adopted);
    linkPackage(dir, { anew: true });
  } catch (error) {
    throw ioError(`make the workspace ${dir}`, error, "usage");
  }
  return { fresh, written, git: await startHistory(dir, fresh) };
}

/** A package.json that npm made before us, with our test script in place of npm's reminder. */
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
    // Said below.
  }
  throw usageError(
    `${file} is not a package.json that can be read`,
    "Mend it or move it away. Nothing was made.",
  );
}

function refuseOccupied(dir: string): void {
  if (!existsSync(dir)) return;
  if (!statSync(dir).isDirectory()) {
    throw usageError(`${dir} is a file`, "Name a new folder.");
  }
  const strangers = readdirSync(dir).filter((name) => !HARMLESS.has(name));
  if (strangers.length === 0) return;
  throw usageError(
    `${dir} is not empty (${strangers.slice(0, 3).join(", ")}) and is not a workspace`,
    `Name a new folder. If it was a workspace whose ${MARKER} was lost, bring that back: git checkout -- ${MARKER}`,
  );
}

/** A history that has the workspace in it; false when git is not installed. */
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

async function copy(from: string, dir: string, name: string, written: string[]): Promise<void> {
  const target = path.join(dir, name);
  if (existsSync(target)) return;
  await mkdir(path.dirname(target), { recursive: true });
  // Whole or not there: a copy that was interrupted must not pass for the file.
  await copyFile(from, `${target}.partial`);
  await rename(`${target}.partial`, target);
  written.push(name);
}

async function write(dir: string, name: string, text: string, written: string[]): Promise<void> {
  const target = path.join(dir, name);
  if (existsSync(target)) return;
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, text, { flag: "wx" });
  written.push(name);
}

function filesUnder(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();
}

/**
 * Lets `import … from "lockedroom"` find this package from a folder. A link is not committed, so it
 * is made again wherever it is missing; an installed package is left alone.
 */
export function linkPackage(dir: string, { anew = false } = {}): void {
  const link = path.join(dir, "node_modules", "lockedroom");
  const found = lstatSync(link, { throwIfNoEntry: false });
  if (found && !found.isSymbolicLink()) return;
  if (found && !anew && isPackage(link)) return;
  try {
    rmSync(link, { force: true });
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(PACKAGE_ROOT, link, "junction");
  } catch (error) {
    throw ioError(`link ${link} to Locked Room`, error);
  }
}

function isPackage(dir: string): boolean {
  try {
    const text = readFileSync(path.join(dir, "package.json"), "utf8");
    return (JSON.parse(text) as { name?: string }).name === "lockedroom";
  } catch {
    return false;
  }
}
