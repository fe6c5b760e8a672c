/** Files of a workspace: read without leaving it, written atomically. */

import { createHash } from "node:crypto";
import { createReadStream, existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { link, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { type ZodType, z } from "zod";
import { dataError, ioError, usageError } from "../core/index.ts";

/** A path relative to the workspace, with forward slashes. */
export function workspacePath(dir: string, absolute: string): string {
  return path.relative(dir, absolute).split(path.sep).join("/");
}

/** A path that a person typed, relative to `cwd`, as a workspace path; throws for one outside. */
export function insideWorkspace(dir: string, cwd: string, given: string, role: string): string {
  const target = path.resolve(cwd, given);
  const found = realInside(dir, target);
  if (found !== undefined) return workspacePath(realpathSync(dir), found);
  throw existsSync(target)
    ? usageError(
        `${role}: ${given} is outside the workspace ${dir}`,
        "Copy it into the workspace and name the copy.",
      )
    : usageError(
        `${role}: there is no file or folder ${given}`,
        "Name something that exists; the path is relative to the current folder.",
      );
}

/** The real path, if it exists and is inside the workspace. */
export function realInside(dir: string, target: string): string | undefined {
  try {
    const [root, real] = [realpathSync(dir), realpathSync(target)];
    return real === root || real.startsWith(root + path.sep) ? real : undefined;
  } catch {
    return undefined;
  }
}

/** Text of a file of the workspace; undefined when there is none, or when a link points outside. */
export function textOf(dir: string, name: string): string | undefined {
  const real = realInside(dir, path.join(dir, name));
  if (real === undefined || !lstatSync(real).isFile()) return undefined;
  try {
    return readFileSync(real, "utf8");
  } catch (error) {
    throw ioError(`read ${name}`, error, "data");
  }
}

/** Parses a JSON file; throws for merge conflicts and damaged content. */
export function parseFile<T>(
  file: string,
  content: string,
  schema: ZodType<T>,
  hints: { readonly conflict: string; readonly damaged: string },
): T {
  if (/^(<{7}|={7}|>{7})( |\r?$)/m.test(content))
    throw dataError(`${file} has a merge conflict; nothing was changed`, hints.conflict);
  try {
    return schema.parse(JSON.parse(content));
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
    const problem = issue
      ? `${issue.path.join(".") || "it"}: ${issue.message}`
      : "it is not valid JSON";
    throw dataError(`${file} is damaged (${problem}); nothing was changed`, hints.damaged);
  }
}

/** Every plain file below a folder, as sorted workspace paths. Links are not followed. */
export async function filesBelow(dir: string, folder: string): Promise<string[]> {
  const root = path.join(dir, folder);
  if (lstatSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  try {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => workspacePath(dir, path.join(entry.parentPath, entry.name)))
      .sort();
  } catch (error) {
    throw ioError(`read ${folder}`, error, "data");
  }
}

/** SHA-256 of a file's bytes; undefined where it cannot be read. */
export async function fileSha256(file: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(file), hash);
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}

/** Writes a file atomically. Without `replace`, an existing file stays. */
export async function writeAtomically(
  file: string,
  content: string | Uint8Array,
  { replace }: { readonly replace: boolean },
): Promise<"written" | "exists"> {
  const temporary = `${file}.${process.pid}.partial`;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(temporary, content);
    if (replace) await rename(temporary, file);
    // link fails where a file exists, so that one of two writers notices.
    else await link(temporary, file);
    return "written";
  } catch (error) {
    if (!replace && (error as NodeJS.ErrnoException).code === "EEXIST") return "exists";
    throw ioError(`write ${file}`, error);
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
  }
}

/** Calls `make` once per key. */
export function memoize<A, R>(make: (argument: A) => R, keyOf: (argument: A) => string = String) {
  const known = new Map<string, R>();
  return (argument: A): R => {
    const key = keyOf(argument);
    const value = known.get(key) ?? make(argument);
    known.set(key, value);
    return value;
  };
}
