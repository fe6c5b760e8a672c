/** Files that are read or written as a whole. */

import { createHash, type Hash } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { ZodType } from "zod";
import { dataError, ioError, messageOf } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { TEMPORARY } from "./artifacts.ts";
import { notRegular, openRegular } from "./regular-file.ts";

/** The content of a file, in parts where it is large. */
export type Content = string | Iterable<Uint8Array>;

export function fileExists(file: string): boolean {
  return existsSync(file);
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Where a path leads by its links; the path itself where nothing is there. */
export function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}

/** What is neither a file nor a folder is empty the second time it is read. */
export function isPipe(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

/** A part of a run is a regular file: to open a pipe would wait for whoever writes to it. */
export async function refusePipe(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (!found || found.isFile() || found.isDirectory()) return;
  throw notRegular(file);
}

/** A file that the user names, which may be a pipe. */
export async function readGiven(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error) => {
    throw ioError(`read ${file}`, error, "data");
  });
}

/** A file of a run or a checkpoint. */
export async function readText(file: string, encoding: BufferEncoding = "utf8"): Promise<string> {
  try {
    return (await readRegular(file)).toString(encoding);
  } catch (error) {
    throw ioError(`read ${file}`, error, "data");
  }
}

async function readRegular(file: string): Promise<Buffer> {
  const handle = await openRegular(file);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Undefined where there is no such file. */
export async function readIfThere(file: string): Promise<string | undefined> {
  return (await readBytesIfThere(file))?.toString("utf8");
}

/** Undefined where there is no such file. */
export async function readBytesIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readRegular(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw ioError(`read ${file}`, error, "data");
  }
}

/** Reads a JSON file that has a schema. */
export async function readArtifact<T>(file: string, schema: ZodType<T>, hint: string): Promise<T> {
  const text = await readText(file);
  try {
    return parseWith(schema, JSON.parse(text));
  } catch (error) {
    throw dataError(`${file} is damaged or of another version: ${messageOf(error)}`, hint);
  }
}

/** Undefined for a text that is no JSON object. */
export function toObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Throws a TypeError with the first problem on one line; the reader adds file and line. */
export function parseWith<T>(schema: ZodType<T>, value: unknown): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  throw new TypeError(`${issue?.path.join(".") || "the whole"}: ${issue?.message}`);
}

export async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    const handle = await openRegular(file);
    for await (const chunk of handle.createReadStream()) hash.update(chunk);
    return hash.digest("hex");
  } catch (error) {
    throw ioError(`read ${file}`, error, "data");
  }
}

/** The file is there as a whole or not at all; folders on the way are made. */
export async function writeWhole(file: string, content: Content): Promise<void> {
  const partial = file + TEMPORARY;
  try {
    await mkdir(path.dirname(path.resolve(file)), { recursive: true });
    await writeDurably(partial, content);
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    throw ioError(`write ${file}`, error, "usage");
  }
}

/** Writes a file so that it is on the disk, not only on its way there. */
export async function writeDurably(file: string, content: Content): Promise<void> {
  await rm(file, { force: true }); // A link or a pipe of that name is not written to.
  const handle = await open(file, "wx");
  try {
    for (const part of typeof content === "string" ? [Buffer.from(content)] : content) {
      for (let done = 0; done < part.length; ) {
        done += (await handle.write(part, done, Math.min(part.length - done, 2 ** 30)))
          .bytesWritten;
      }
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The same, and the SHA-256 of what was written. */
export async function writeHashed(file: string, content: Content): Promise<string> {
  const hash = createHash("sha256");
  await writeDurably(file, hashed(content, hash));
  return hash.digest("hex");
}

function* hashed(content: Content, hash: Hash): Generator<Uint8Array> {
  for (const part of typeof content === "string" ? [Buffer.from(content)] : content) {
    hash.update(part);
    yield part;
  }
}

/** Removes files and folders that are there. */
export async function removeAll(dir: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(path.join(dir, name), { recursive: true, force: true });
}
