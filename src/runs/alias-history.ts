/**
 * The history of a policy alias: a folder with one file for each entry, 0001.json and on. An entry is
 * written under another name and then linked to its number. A link is made whole or not at all, and only
 * once: a killed writer leaves no half entry, and of two writers one gets the number. Each entry holds
 * its hash and that of the one before: an entry that alone was edited, exchanged or removed is found. Who
 * computes all hashes anew, or removes the last entries, is not: version control keeps the history.
 */

import { randomUUID } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { constants, copyFile, link, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { dataError, ioError, messageOf, usageError } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import { type AliasEntry, aliasEntrySchema, MOST_ENTRIES } from "./alias-entry.ts";
import { ALIAS_ENTRY_SCHEMA, ALIASES, TEMPORARY } from "./artifacts.ts";
import { observeOccasion } from "./manifest.ts";
import { syncFolder } from "./replace-folder.ts";
import { artifactJson } from "./run-folder.ts";
import { parseWith, writeDurably } from "./whole-file.ts";

/** How a policy is given by its alias. */
export const ALIAS_PREFIX = "alias:";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const ENTRY = /^\d{4}\.json$/;
const RESTORE = "Restore the folder from version control or a backup; entries are never edited.";

export interface AliasPlace {
  readonly name: string;
  /** The folder of its history. */
  readonly dir: string;
}

/** `production` is aliases/production here; a path names the folder itself. */
export function aliasPlace(given: string): AliasPlace {
  const isPath = /[/\\]/.test(given);
  const name = path.basename(given);
  if (!NAME.test(name) || (!isPath && given !== name)) {
    throw usageError(
      `${JSON.stringify(given)} is not the name of an alias`,
      "Use letters, digits, dots, hyphens and underscores, such as production.",
    );
  }
  return { name, dir: isPath ? given : path.join(ALIASES, name) };
}

/** All entries, oldest first; none where the alias has never been promoted. */
export function readAlias({ name, dir }: AliasPlace): AliasEntry[] {
  const entries: AliasEntry[] = [];
  let previous: string | null = null;
  for (const file of entryFiles(dir)) {
    const number = entries.length + 1;
    const wanted = fileOf(dir, number);
    if (file !== wanted) throw dataError(`${wanted} is missing, and ${file} is there`, RESTORE);
    const { sha256, ...content } = readEntry(file);
    if (sha256 !== fingerprint(content)) throw damaged(file, "its hash is another");
    const entry = { ...content, sha256 };
    if (entry.number !== number || entry.alias !== name)
      throw damaged(file, `it is entry ${entry.number} of ${entry.alias}`);
    if (entry.previous_sha256 !== previous)
      throw damaged(file, "the entry before it is not the one that it was written after");
    for (const earlier of [entry.rollback_to ?? 0, entry.restores ?? 0])
      if (earlier >= number) throw damaged(file, `it refers to entry ${earlier}`);
    entries.push(entry);
    previous = entry.sha256;
  }
  return entries;
}

/** The entry that counts now; an alias without any is refused. */
export function currentEntry(place: AliasPlace): AliasEntry {
  const entry = readAlias(place).at(-1);
  if (entry) return entry;
  throw dataError(
    `the alias ${place.name} names no policy: there is no history in ${place.dir}`,
    "Promote a policy first: promote --alias NAME --policy CHECKPOINT --verdict FILE.",
  );
}

/** The folder of the checkpoint, or `pi0`, or `openai:MODEL`. */
export function sourceOf({ dir }: AliasPlace, { source }: Pick<AliasEntry, "source">): string {
  return isFolder(source) ? path.join(dir, ...source.split("/")) : source;
}

/** As an entry records it, so that a moved workspace keeps its aliases. */
export function recordedSource({ dir }: AliasPlace, given: string): string {
  return isFolder(given) ? path.relative(dir, given).split(path.sep).join("/") : given;
}

const isFolder = (source: string) => source !== "pi0" && !source.startsWith("openai:");

/** Every alias of a folder. */
export function listAliases(dir = ALIASES): AliasPlace[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => NAME.test(name) && mayHaveEntries(path.join(dir, name)))
    .sort()
    .map((name) => ({ name, dir: path.join(dir, name) }));
}

/** A folder that cannot be read is listed, so that it is not taken for none. */
function mayHaveEntries(dir: string): boolean {
  try {
    return entryFiles(dir).length > 0;
  } catch {
    return true;
  }
}

export type NewEntry = Omit<
  AliasEntry,
  "schema" | "alias" | "number" | "previous_sha256" | "volatile" | "sha256"
>;

/**
 * Adds an entry after those that were read. Undefined when another process has added one since:
 * read again, and decide again.
 */
export async function addEntry(
  place: AliasPlace,
  before: readonly AliasEntry[],
  entry: NewEntry,
): Promise<AliasEntry | undefined> {
  const number = before.length + 1;
  if (number > MOST_ENTRIES)
    throw usageError(`${place.dir} has ${before.length} entries, and no room for more`);
  const { started_at: at, host, platform, node, lockedroom, git } = await observeOccasion()();
  const content: Omit<AliasEntry, "sha256"> = {
    ...{ schema: ALIAS_ENTRY_SCHEMA, alias: place.name, number, ...entry },
    previous_sha256: before.at(-1)?.sha256 ?? null,
    volatile: { at, host, platform, node, lockedroom, git },
  };
  const whole: AliasEntry = { ...content, sha256: fingerprint(content) };
  const added = await writeOnce(place.dir, fileOf(place.dir, number), artifactJson(whole));
  return added ? whole : undefined;
}

/** False when the file is there already. */
async function writeOnce(dir: string, file: string, text: string): Promise<boolean> {
  const partial = path.join(dir, `.${path.basename(file)}.${randomUUID()}${TEMPORARY}`);
  try {
    await mkdir(dir, { recursive: true });
    await writeDurably(partial, text);
    const made = await linked(partial, file);
    await syncFolder(dir);
    return made;
  } catch (error) {
    throw ioError(`write ${file}`, error, "usage");
  } finally {
    await rm(partial, { force: true }).catch(() => {});
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!["EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP"].includes(code ?? "")) throw error;
  }
  // Without hard links, a copy is made only once as well.
  return copyFile(from, to, constants.COPYFILE_EXCL).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

const fileOf = (dir: string, number: number) =>
  path.join(dir, `${String(number).padStart(4, "0")}.json`);

function entryFiles(dir: string): string[] {
  try {
    const names = readdirSync(dir).filter((name) => ENTRY.test(name));
    return names.sort().map((name) => path.join(dir, name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw ioError(`read ${dir}`, error, "data");
  }
}

function readEntry(file: string): AliasEntry {
  let text: string;
  try {
    // A link is not followed, and a pipe would wait for whoever writes to it.
    if (!lstatSync(file).isFile()) throw damaged(file, "it is not a regular file");
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw ioError(`read ${file}`, error, "data");
  }
  try {
    return parseWith(aliasEntrySchema, JSON.parse(text));
  } catch (error) {
    throw damaged(file, messageOf(error));
  }
}

function damaged(file: string, why: string): Error {
  return dataError(`${file} is damaged or was edited: ${why}`, RESTORE);
}
