/**
 * The one writer of run folders, whatever kind. Nothing half-written ever looks finished: files have
 * temporary names until `finish` puts them in place, `summary.json` last. A stream that a resumed
 * run continues grows under its own name.
 */

import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { ioError, usageError } from "../core/errors.ts";
import { sha256 } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import { MANIFEST, NOTE, RUNNING, SUMMARY, TEMPORARY } from "./artifacts.ts";
import { claim, claimState, readClaim, release } from "./claim.ts";
import { contentOf } from "./folder-kind.ts";
import { aRun, describeKind, nextStep, type RunKind } from "./kinds.ts";
import { GrowingFile, LineFile, writeNew } from "./line-files.ts";
import { keepEditedNote } from "./run-note.ts";
import { realPath, sha256OfFile } from "./whole-file.ts";

/** Further files by name, such as charts. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

export interface Finished<M, S> {
  readonly dir: string;
  readonly manifest: M;
  readonly summary: S;
}

/** Writes one run folder: `open` claims it; then `finish` or `leave`. */
export class RunFolder {
  readonly dir: string;
  readonly kind: RunKind;
  /** The first folder that had to be made, which goes again if nothing comes of the run. */
  readonly #made: string | undefined;
  readonly #lines = new Map<string, LineFile>();
  readonly #growing = new Map<string, GrowingFile>();
  /** Everything that waits under a temporary name. */
  readonly #waiting = new Set<string>();
  readonly #claim: string;

  private constructor(dir: string, kind: RunKind, made: string | undefined, claim: string) {
    this.dir = dir;
    this.kind = kind;
    this.#made = made;
    this.#claim = claim;
  }

  /** Claims the folder, or says why it must not be written. */
  static async open(dir: string, kind: RunKind, options: FolderOptions = {}): Promise<RunFolder> {
    refuseOwnInputs(dir, options.inputs ?? []);
    let made: string | undefined;
    let claimed: string | undefined;
    try {
      made = await makeFolder(dir);
      const before = await readClaim(dir);
      if (before?.writer === undefined) await requireWritable(dir, kind, options);
      claimed = await claim(dir, kind);
      await requireWritable(dir, kind, options); // Another writer may have finished in between.
      if (before) await removeTemporary(dir);
      return new RunFolder(dir, kind, made, claimed);
    } catch (error) {
      if (claimed) await release(dir, claimed);
      if (made) await removeEmpty(dir, made);
      throw ioError(`write to ${dir}`, error, "usage");
    }
  }

  /** The path of one of its files. */
  file(name: string): string {
    return path.join(this.dir, name);
  }

  /** A file of lines that appears when the run is finished. */
  async lines(name: string): Promise<LineFile> {
    this.#waiting.add(name);
    const file = await LineFile.create(this.file(name + TEMPORARY)).catch((error) => {
      throw ioError(`write to ${this.dir}`, error, "usage");
    });
    this.#lines.set(name, file);
    return file;
  }

  /** A file of lines that is there from the start; of an earlier one, `keep` bytes stay. */
  async growing(name: string, keep = 0): Promise<GrowingFile> {
    const file = await GrowingFile.open(this.file(name), keep);
    this.#growing.set(name, file);
    return file;
  }

  /** Ends the streams; gives the SHA-256 of each and of further files, by name. */
  async seal(files: Files = {}): Promise<Record<string, string>> {
    const hashes: Record<string, string> = {};
    for (const [name, file] of this.#lines) hashes[name] = await file.end();
    try {
      for (const [name, file] of this.#growing) {
        await file.close({ durable: true });
        hashes[name] = await sha256OfFile(file.path);
      }
    } catch (error) {
      throw ioError(`write ${this.dir}`, error);
    }
    for (const [name, content] of Object.entries(files)) hashes[name] = sha256(content);
    return hashes;
  }

  /** Puts every file in place, the summary last, and lets go. */
  async finish<M, S>(manifest: M, summary: S, files: Files = {}): Promise<Finished<M, S>> {
    await this.#requireClaim();
    try {
      for (const [name, content] of Object.entries(files)) await this.#put(name, content);
      await this.#put(MANIFEST, artifactJson(manifest));
      await this.#put(SUMMARY, artifactJson(summary));
      const replaced = await filesOfRun(this.dir);
      for (const name of [SUMMARY, ...replaced]) await rm(this.file(name), { force: true });
      if (NOTE in files) await keepEditedNote(this.dir);
      for (const name of this.#waiting) {
        await rename(this.file(name + TEMPORARY), this.file(name));
      }
      for (const name of describeKind(this.kind).transient ?? []) {
        await rm(this.file(name), { force: true, recursive: true });
      }
      this.#waiting.clear();
      await release(this.dir, this.#claim);
    } catch (error) {
      throw ioError(`write ${this.dir}`, error);
    }
    return { dir: this.dir, manifest, summary };
  }

  /** Lets go of an unfinished run. What was in the folder before is still there. */
  async leave(): Promise<void> {
    for (const file of this.#lines.values()) await file.abandon();
    for (const file of this.#growing.values()) await file.close().catch(() => {});
    const another = (await claimState(this.dir, this.#claim)) === "other";
    for (const name of another ? [] : this.#waiting) {
      await rm(this.file(name + TEMPORARY), { force: true }).catch(() => {});
    }
    await release(this.dir, this.#claim);
    if (this.#made) await removeEmpty(this.dir, this.#made);
  }

  /** Whoever deleted the claim, or took it over, may have written here since. */
  async #requireClaim(): Promise<void> {
    if ((await claimState(this.dir, this.#claim)) === "ours") return;
    throw usageError(
      `${this.dir} is no longer claimed by this run: its ${RUNNING} was removed or replaced`,
      "Run the same command again with another --outdir.",
    );
  }

  async #put(name: string, content: string | Uint8Array): Promise<void> {
    this.#waiting.add(name);
    // The summary means "finished" and must be on the disk whole; it holds the hashes of the rest.
    await writeNew(this.file(name + TEMPORARY), content, name === SUMMARY);
  }
}

/** Node calls a read-only file system "no such file"; making the one folder gives the real error. */
async function makeFolder(dir: string): Promise<string | undefined> {
  return mkdir(dir, { recursive: true }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    await mkdir(dir);
    return dir;
  });
}

/** What a killed writer left under temporary names. */
async function removeTemporary(dir: string): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory() || !entry.name.endsWith(TEMPORARY)) continue;
    await rm(path.join(dir, entry.name), { force: true });
  }
}

/** The further files of the run in this folder, by its summary; what has changed since stays. */
async function filesOfRun(dir: string): Promise<string[]> {
  const { files } = (await contentOf(dir)).summary ?? {};
  const own: string[] = [];
  for (const [name, hash] of Object.entries(files ?? {})) {
    if (path.basename(name) === name && (await hashOf(path.join(dir, name))) === hash)
      own.push(name);
  }
  return own;
}

/** Undefined for what is no plain file, or cannot be read. */
async function hashOf(file: string): Promise<string | undefined> {
  const found = await lstat(file).catch(() => undefined);
  return found?.isFile() ? sha256OfFile(file).catch(() => undefined) : undefined;
}

/** Removes the folders from `dir` up to `made`, as long as they are empty. */
async function removeEmpty(dir: string, made: string): Promise<void> {
  for (
    let folder = path.resolve(dir);
    folder.length >= path.resolve(made).length;
    folder = path.dirname(folder)
  ) {
    const removed = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

/** Sorted keys like everything that is compared, indented because people read it. */
export function artifactJson(value: unknown): string {
  return `${JSON.stringify(JSON.parse(canonicalJson(value)), null, 2)}\n`;
}

export interface FolderOptions {
  /** Replace a finished run of the same kind, or start an unfinished one over. */
  readonly force?: boolean | undefined;
  /** Continue an unfinished one. */
  readonly resume?: boolean | undefined;
  /** Files that are read; none may lie in the folder that is written. */
  readonly inputs?: readonly string[] | undefined;
}

/**
 * May be written: an empty folder, a run of this kind that was interrupted, and with --force a
 * finished one. What can be resumed is started over only with --force.
 */
export async function requireWritable(
  dir: string,
  kind: RunKind,
  { force, resume }: FolderOptions,
): Promise<void> {
  const { kind: found, summary, claim } = await contentOf(dir);
  const names = (await readdir(dir)).filter((name) => !name.startsWith(RUNNING));
  const wanted = describeKind(kind);
  if (names.length === 0) return;
  if (found && describeKind(found).manifest !== wanted.manifest) {
    const finished = summary !== undefined;
    throw usageError(
      `${dir} holds ${aRun(found, finished)}, which another command wrote`,
      `Choose another --outdir. ${nextStep(found, finished, dir)}`,
    );
  }
  if (found && summary) {
    if (force || (resume && wanted.resumesFinished)) return;
    throw usageError(
      `${dir} already holds a finished ${describeKind(found).name}`,
      "Choose another --outdir, or replace it with --force.",
    );
  }
  if (found && wanted.resumesFrom && existsSync(path.join(dir, wanted.resumesFrom))) {
    if (force || resume) return;
    throw usageError(
      `${dir} holds an unfinished ${wanted.name}`,
      "Continue it with the same command and --resume, or start over with --force.",
    );
  }
  if (claim || (found && force)) return;
  if (found) {
    throw usageError(
      `${dir} holds ${aRun(found, false)}`,
      "Choose another --outdir, or start over with --force.",
    );
  }
  throw usageError(
    `${dir} is not empty and holds no ${wanted.name} (it holds ${names.slice(0, 3).join(", ")})`,
    "Choose a new or empty folder for --outdir.",
  );
}

/** A run never writes where it reads from: `--force` would replace what it is made of. */
export function refuseOwnInputs(dir: string, inputs: readonly string[]): void {
  const folder = realPath(dir);
  const inside = inputs.find((input) => realPath(input).startsWith(folder + path.sep));
  if (inside === undefined) return;
  throw usageError(`${inside} lies in the output folder ${dir}`, "Choose another --outdir.");
}
