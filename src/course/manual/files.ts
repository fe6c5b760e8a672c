/**
 * Reads the manual's sources and puts the site into a folder: a new one, an empty one, or one that
 * carries our marker. The marker lists the files that are ours; nothing else is ever touched.
 */

import { randomUUID } from "node:crypto";
import {
  access,
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
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
    const names = (await readdir(folder)).filter((name) => name.endsWith(".md"));
    const chapters = new Map<string, string>();
    for (const name of names) chapters.set(name, await readFile(path.join(folder, name), "utf8"));
    const [style, script] = await Promise.all(
      ["manual.css", "manual.js"].map((name) => readFile(new URL(name, LOOK), "utf8")),
    );
    return {
      chapters,
      images: await readImages(folder),
      style,
      script,
      version: packageVersion(),
    } as Sources;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw ioError("read the manual", error);
    throw dataError("the manual is not in this installation", "Install lockedroom again.");
  }
}

/** All pictures of the documents, by path from the manual's folder. */
async function readImages(folder: string): Promise<Map<string, Uint8Array>> {
  const images = new Map<string, Uint8Array>();
  const docs = fileURLToPath(DOCS);
  for (const entry of await readdir(docs, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(svg|png)$/.test(entry.name)) continue;
    const file = path.join(entry.parentPath, entry.name);
    images.set(path.relative(folder, file).split(path.sep).join("/"), await readFile(file));
  }
  return images;
}

/** Under the system's temporary folder, named after the content: never stale, and made only once. */
export async function publishTemporarily(site: Site, temporary: string): Promise<string> {
  const name = `lockedroom-manual-${packageVersion()}-${site.fingerprint.slice(0, 12)}`;
  try {
    await access(temporary);
    const dir = path.join(temporary, name);
    if (!(await isSomebodyElses(dir))) return await publish(site, dir);
    return await publish(site, await mkdtemp(`${dir}-`));
  } catch (error) {
    const cause =
      error instanceof LockedRoomError ? error : ioError(`write in ${temporary}`, error);
    throw new LockedRoomError(cause.kind, cause.message, {
      cause,
      hint: "Name a folder of your own: lockedroom manual --outdir FOLDER",
    });
  }
}

/** Temporary folders are shared: a folder that another user put there is not trusted. */
async function isSomebodyElses(dir: string): Promise<boolean> {
  const stat = await lstat(dir).catch(() => undefined);
  if (stat === undefined) return false;
  return !stat.isDirectory() || (process.getuid !== undefined && stat.uid !== process.getuid());
}

/** Returns the folder. What is there already and right is left as it is. */
export async function publish(site: Site, dir: string): Promise<string> {
  try {
    if (!(await makeAside(site, dir))) await update(site, dir);
    return dir;
  } catch (error) {
    throw error instanceof LockedRoomError ? error : ioError(`write ${dir}`, error);
  }
}

/** A new folder appears whole, under its own name at last; false when there is one already. */
async function makeAside(site: Site, dir: string): Promise<boolean> {
  if ((await lstat(dir).catch(() => undefined)) !== undefined) return false;
  await mkdir(path.dirname(path.resolve(dir)), { recursive: true });
  const aside = await mkdtemp(`${path.resolve(dir)}.making-`);
  try {
    await chmod(aside, 0o755);
    await writeAll(site, aside, new Set(site.files.keys()));
    await rename(aside, dir);
    return true;
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    // Somebody else was quicker; theirs is then looked at like any other.
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
  }
}

async function update(site: Site, dir: string): Promise<void> {
  const names = await readdir(dir);
  const ours = await readMarker(dir);
  if (ours === undefined && names.length > 0) {
    throw usageError(
      `${dir} is not empty and holds no manual (it holds ${names.slice(0, 3).join(", ")})`,
      "Choose a new or empty folder for --outdir.",
    );
  }
  for (const folder of foldersOf(site)) {
    const stat = await lstat(path.join(dir, folder)).catch(() => undefined);
    if (stat && !stat.isDirectory()) throw inTheWay(path.join(dir, folder));
  }
  const wanted = new Set<string>();
  for (const [name, content] of site.files) {
    const present = await readFile(path.join(dir, name)).catch(() => undefined);
    if (present?.equals(Buffer.from(content))) continue;
    if (present !== undefined && !ours?.has(name)) throw inTheWay(path.join(dir, name));
    wanted.add(name);
  }
  const stale = [...(ours ?? [])].filter((name) => !site.files.has(name));
  if (wanted.size === 0 && stale.length === 0 && ours !== undefined) return;
  await writeAll(site, dir, wanted);
  for (const name of stale) await rm(path.join(dir, name), { force: true });
}

function inTheWay(file: string): LockedRoomError {
  return usageError(`${file} is not of the manual and is in its way`, "Choose another --outdir.");
}

/** The marker goes first: a folder that is left half-written is still known as ours. */
async function writeAll(site: Site, dir: string, wanted: ReadonlySet<string>): Promise<void> {
  const marker = { schema: SCHEMA, fingerprint: site.fingerprint, files: [...site.files.keys()] };
  await replace(path.join(dir, MARKER), `${JSON.stringify(marker, null, 1)}\n`);
  for (const folder of foldersOf(site)) await mkdir(path.join(dir, folder), { recursive: true });
  for (const name of wanted) {
    await replace(path.join(dir, name), site.files.get(name) as string | Uint8Array);
  }
}

function foldersOf({ files }: Site): Set<string> {
  return new Set(
    [...files.keys()].map((name) => path.posix.dirname(name)).filter((name) => name !== "."),
  );
}

/** A reader sees the old file or the new one; a link is replaced, not followed. */
async function replace(file: string, content: string | Uint8Array): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await writeFile(aside, content, { flag: "wx" });
    await rename(aside, file);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}

/** The files that a folder's marker calls ours; undefined where there is none that can be read. */
async function readMarker(dir: string): Promise<Set<string> | undefined> {
  try {
    const { schema, files } = JSON.parse(await readFile(path.join(dir, MARKER), "utf8"));
    if (schema !== SCHEMA || !Array.isArray(files)) return undefined;
    return new Set(files.filter((name) => typeof name === "string" && isInside(name)));
  } catch {
    return undefined;
  }
}

const isInside = (name: string) => /^[\w-][\w.-]*(\/[\w-][\w.-]*)?$/.test(name);
