/**
 * Writes a run so that nothing half-written ever looks done: files appear under temporary names,
 * are renamed together at the end, and `summary.json` comes last. A folder that holds anything
 * else than a run is never touched.
 */

import { createHash } from "node:crypto";
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  unlink,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import { ioError, LockedRoomError, usageError } from "../core/errors.ts";
import { sha256 } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import { MANIFEST, NOTE, RESULTS, RUNNING, SUMMARY, SUMMARY_TEXT } from "./artifacts.ts";
import type { Manifest, Summary } from "./schemas.ts";

export interface WriterOptions {
  /** Replace a finished run. The old one stays whole until the new one is complete. */
  readonly force?: boolean;
}

/** What completes a run. */
export interface RunEnd {
  readonly manifest: Manifest;
  readonly summary: Summary;
  readonly summaryText: string;
  readonly note: string;
}

const TEMPORARY = ".partial";

export class RunWriter {
  readonly dir: string;
  readonly #results: FileHandle;
  readonly #hash = createHash("sha256");
  #pending: string[] = [];

  private constructor(dir: string, results: FileHandle) {
    this.dir = dir;
    this.#results = results;
  }

  /** Claims the folder, or says why it must not be written. */
  static async open(dir: string, options: WriterOptions = {}): Promise<RunWriter> {
    try {
      await mkdir(dir, { recursive: true });
      await refuseForeignFolder(dir, options.force ?? false);
      await claim(dir);
      return new RunWriter(dir, await open(path.join(dir, RESULTS + TEMPORARY), "w"));
    } catch (error) {
      if (error instanceof LockedRoomError) throw error;
      throw ioError(`write to ${dir}`, error, "usage");
    }
  }

  /** Adds one line of results.jsonl; `flush` now and then so that lines do not pile up. */
  add(line: string): void {
    this.#pending.push(line);
  }

  async flush(): Promise<void> {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(`${this.#pending.join("\n")}\n`);
    this.#pending = [];
    this.#hash.update(bytes);
    await this.#guard(async () => {
      await this.#results.writeFile(bytes);
    });
  }

  /** Ends results.jsonl and gives its SHA-256; call before `finish`. */
  async endResults(): Promise<string> {
    await this.flush();
    await this.#guard(async () => {
      await this.#results.sync();
      await this.#results.close();
    });
    return this.#hash.digest("hex");
  }

  /** Puts every file in place, the summary last. */
  async finish(end: RunEnd): Promise<void> {
    const files: [name: string, text: string][] = [
      [MANIFEST, artifactJson(end.manifest)],
      [SUMMARY_TEXT, end.summaryText],
      [NOTE, stamped(end.note)],
      [SUMMARY, artifactJson(end.summary)],
    ];
    await this.#guard(async () => {
      for (const [name, text] of files) await writeDurably(this.#file(name + TEMPORARY), text);
      await rm(this.#file(SUMMARY), { force: true });
      await keepEditedNote(this.dir);
      await rename(this.#file(RESULTS + TEMPORARY), this.#file(RESULTS));
      for (const [name] of files) await rename(this.#file(name + TEMPORARY), this.#file(name));
      await unlink(this.#file(RUNNING));
    });
  }

  /** Lets go after a failure. What was in the folder before is still there; no run looks done. */
  async abandon(): Promise<void> {
    await this.#results.close().catch(() => {});
    for (const name of [MANIFEST, SUMMARY_TEXT, NOTE, SUMMARY, RESULTS]) {
      await rm(this.#file(name + TEMPORARY), { force: true }).catch(() => {});
    }
    await rm(this.#file(RUNNING), { force: true }).catch(() => {});
    await rmdir(this.dir).catch(() => {}); // Only an empty folder goes.
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw ioError(`write ${this.dir}`, error);
    }
  }

  #file(name: string): string {
    return path.join(this.dir, name);
  }
}

/** Ours to write: an empty folder, an interrupted run (its claim is still there), or with force a finished one. */
async function refuseForeignFolder(dir: string, force: boolean): Promise<void> {
  const names = await readdir(dir);
  if (await isFinishedRun(dir)) {
    if (force) return;
    throw usageError(
      `${dir} already holds a finished run`,
      "Choose another --outdir, or replace it with --force.",
    );
  }
  if (names.length > 0 && !names.includes(RUNNING)) {
    throw usageError(
      `${dir} is not empty and is not a run (it holds ${names.slice(0, 3).join(", ")})`,
      "Choose a new or empty folder for --outdir.",
    );
  }
}

async function isFinishedRun(dir: string): Promise<boolean> {
  try {
    const summary: unknown = JSON.parse(await readFile(path.join(dir, SUMMARY), "utf8"));
    return String((summary as { schema?: unknown }).schema).startsWith("lockedroom.");
  } catch {
    return false;
  }
}

/** Only one writer at a time; a claim whose process is gone is void. */
async function claim(dir: string): Promise<void> {
  const file = path.join(dir, RUNNING);
  for (const retry of [true, false]) {
    try {
      await writeFile(file, `${process.pid}\n`, { flag: "wx" });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const owner = await writerOf(dir);
      if (owner !== undefined || !retry) {
        throw usageError(
          `${dir} is being written by another process${owner ? ` (${owner})` : ""}`,
          "Wait for it, or choose another --outdir.",
        );
      }
      await rm(file, { force: true });
    }
  }
}

/** The process that is writing the run now, if it still lives. */
export async function writerOf(dir: string): Promise<number | undefined> {
  try {
    const pid = Number.parseInt(await readFile(path.join(dir, RUNNING), "utf8"), 10);
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? 0 : undefined;
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const STAMP = /\n<!-- untouched ([0-9a-f]{64}) -->\n$/;

/** Marks a note so that we can tell later whether a person has written in it. */
function stamped(note: string): string {
  return `${note}\n<!-- untouched ${sha256(note)} -->\n`;
}

/** A note that a person wrote in is theirs: it is set aside, never overwritten. */
async function keepEditedNote(dir: string): Promise<void> {
  const note = await readFile(path.join(dir, NOTE), "utf8").catch(() => undefined);
  if (note === undefined || STAMP.exec(note)?.[1] === sha256(note.replace(STAMP, ""))) return;
  const taken = new Set(await readdir(dir));
  for (let n = 1; ; n++) {
    const name = `README.kept-${n}.md`;
    if (!taken.has(name)) return rename(path.join(dir, NOTE), path.join(dir, name));
  }
}

/** Sorted keys like everything that is compared, indented because people read it. */
function artifactJson(value: unknown): string {
  return `${JSON.stringify(JSON.parse(canonicalJson(value)), null, 2)}\n`;
}
