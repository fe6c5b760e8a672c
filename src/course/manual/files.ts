/**
 * Reads the manual's sources and writes the site to a folder that is new, empty, or has our marker
 * file. The marker lists the files of the site; other files are never changed.
 */

import { randomUUID } from "node:crypto";
import fs from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { dataError, ioError, LockedRoomError, usageError } from "../../core/index.ts";
import { packageVersion } from "../../runs/index.ts";
import { buildSite, type Site, type Sources } from "./site.ts";

export const MARKER = ".lockedroom-manual.json";
const SCHEMA = "lockedroom.manual@1";
const DOCS = new URL("../../../docs/", import.meta.url);
const LOOK = new URL("../../../assets/manual/", import.meta.url);

export async function buildManual(): Promise<Site> {
  return buildSite(await readSources());
}

export async function readSources(): Promise<Sources> {
  const folder = path.join(fileURLToPath(DOCS), "manual");
  try {
    const names = (await fs.readdir(folder)).filter((name) => name.endsWith(".md"));
    const chapters = new Map<string, string>();
    for (const name of names)
      chapters.set(name, await fs.readFile(path.join(folder, name), "utf8"));
    const [style, script] = await Promise.all(
      ["manual.css", "manual.js"].map((name) => fs.readFile(new URL(name, LOOK), "utf8")),
    );
    const images = await readImages(folder);
    return { chapters, images, style, script, version: packageVersion() } as Sources;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw ioError("read the manual", error);
    throw dataError("the manual is not in this installation", "Install lockedroom again.");
  }
}

/** All images of docs/, by path from the manual's folder. */
async function readImages(folder: string): Promise<Map<string, Uint8Array>> {
  const images = new Map<string, Uint8Array>();
  const docs = fileURLToPath(DOCS);
  for (const entry of await fs.readdir(docs, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(svg|png)$/.test(entry.name)) continue;
    const file = path.join(entry.parentPath, entry.name);
    images.set(path.relative(folder, file).split(path.sep).join("/"), await fs.readFile(file));
  }
  return images;
}

/** Writes to the system's temporary folder, under a name with the content's hash. */
export async function publishTemporarily(site: Site, temporary: string): Promise<string> {
  const name = `lockedroom-manual-${packageVersion()}-${site.fingerprint.slice(0, 12)}`;
  try {
    await fs.access(temporary);
    const dir = path.join(temporary, name);
    if (!(await isForeign(dir))) return await publish(site, dir);
    return await publish(site, await fs.mkdtemp(`${dir}-`));
  } catch (error) {
    const cause =
      error instanceof LockedRoomError ? error : ioError(`write in ${temporary}`, error);
    throw new LockedRoomError(cause.kind, cause.message, {
      cause,
      hint: "Choose a folder: lockedroom manual --outdir FOLDER",
    });
  }
}

/** Temporary folders are shared: a folder of another user is not trusted. */
async function isForeign(dir: string): Promise<boolean> {
  const stat = await fs.lstat(dir).catch(() => undefined);
  if (stat === undefined) return false;
  return !stat.isDirectory() || (process.getuid !== undefined && stat.uid !== process.getuid());
}

/** Writes the site and returns the folder. Files that are up to date are not written. */
export async function publish(site: Site, dir: string): Promise<string> {
  try {
    if (!(await createFolder(site, dir))) await update(site, dir);
    return dir;
  } catch (error) {
    throw error instanceof LockedRoomError ? error : ioError(`write ${dir}`, error);
  }
}

/** Creates the folder atomically; false when it exists already. */
async function createFolder(site: Site, dir: string): Promise<boolean> {
  if ((await fs.lstat(dir).catch(() => undefined)) !== undefined) return false;
  await fs.mkdir(path.dirname(path.resolve(dir)), { recursive: true });
  const aside = await fs.mkdtemp(`${path.resolve(dir)}.making-`);
  try {
    await fs.chmod(aside, 0o755);
    await writeAll(site, aside, new Set(site.files.keys()));
    await fs.rename(aside, dir);
    return true;
  } catch (error) {
    await fs.rm(aside, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    // Another process created it first; it is then updated like any other.
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
  }
}

async function update(site: Site, dir: string): Promise<void> {
  const names = await fs.readdir(dir);
  const ours = await readMarker(dir);
  if (ours === undefined && names.length > 0) {
    throw usageError(
      `${dir} is not empty and is not a manual (it has ${names.slice(0, 3).join(", ")})`,
      "Choose a new or empty folder for --outdir.",
    );
  }
  for (const folder of foldersOf(site)) {
    const stat = await fs.lstat(path.join(dir, folder)).catch(() => undefined);
    if (stat && !stat.isDirectory()) throw conflicting(path.join(dir, folder));
  }
  const wanted = new Set<string>();
  for (const [name, content] of site.files) {
    const present = await fs.readFile(path.join(dir, name)).catch(() => undefined);
    if (present?.equals(Buffer.from(content))) continue;
    if (present !== undefined && !ours?.has(name)) throw conflicting(path.join(dir, name));
    wanted.add(name);
  }
  const stale = [...(ours ?? [])].filter((name) => !site.files.has(name));
  if (wanted.size === 0 && stale.length === 0 && ours !== undefined) return;
  await writeAll(site, dir, wanted);
  for (const name of stale) await fs.rm(path.join(dir, name), { force: true });
}

function conflicting(file: string): LockedRoomError {
  return usageError(`${file} exists and is not part of the manual`, "Choose another --outdir.");
}

/** The marker is written first, so that an interrupted write can be continued. */
async function writeAll(site: Site, dir: string, wanted: ReadonlySet<string>): Promise<void> {
  const marker = { schema: SCHEMA, fingerprint: site.fingerprint, files: [...site.files.keys()] };
  await replace(path.join(dir, MARKER), `${JSON.stringify(marker, null, 1)}\n`);
  for (const folder of foldersOf(site)) await fs.mkdir(path.join(dir, folder), { recursive: true });
  for (const name of wanted) {
    await replace(path.join(dir, name), site.files.get(name) as string | Uint8Array);
  }
}

function foldersOf({ files }: Site): Set<string> {
  return new Set(
    [...files.keys()].map((name) => path.posix.dirname(name)).filter((name) => name !== "."),
  );
}

/** Replaces a file atomically; a link is replaced, not followed. */
async function replace(file: string, content: string | Uint8Array): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await fs.writeFile(aside, content, { flag: "wx" });
    await fs.rename(aside, file);
  } catch (error) {
    await fs.rm(aside, { force: true });
    throw error;
  }
}

/** The files listed in a folder's marker; undefined without a readable marker. */
async function readMarker(dir: string): Promise<Set<string> | undefined> {
  try {
    const { schema, files } = JSON.parse(await fs.readFile(path.join(dir, MARKER), "utf8"));
    if (schema !== SCHEMA || !Array.isArray(files)) return undefined;
    return new Set(files.filter((name) => typeof name === "string" && isInside(name)));
  } catch {
    return undefined;
  }
}

const isInside = (name: string) => /^[\w-][\w.-]*(\/[\w-][\w.-]*)?$/.test(name);
