/**
 * Writes a run so that nothing half-written ever looks done: files appear under temporary names,
 * are renamed together at the end, and `summary.json` comes last.
 */

import { mkdir, rename, rm, rmdir, unlink } from "node:fs/promises";
import path from "node:path";
import { ioError, LockedRoomError } from "../core/errors.ts";
import { sha256 } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import {
  MANIFEST,
  NOTE,
  RESULTS,
  RUNNING,
  SUMMARY,
  SUMMARY_SCHEMA,
  SUMMARY_TEXT,
} from "./artifacts.ts";
import {
  claim,
  filesOfRun,
  refuseFinishedRun,
  refuseForeignFolder,
  refuseOwnInputs,
  release,
} from "./claim.ts";
import { keepEditedNote, stamped } from "./kept-note.ts";
import { LineFile, writeNew } from "./lines.ts";
import { manifestFingerprint } from "./manifest.ts";
import { runNote, summaryText } from "./note.ts";
import type { Manifest, ResultRow, Summary } from "./schemas.ts";

export interface WriterOptions {
  /** Replace a finished run. The old one stays whole until the new one is complete. */
  readonly force?: boolean | undefined;
  /** Files that are read; none may lie in the folder that is written. */
  readonly inputs?: readonly string[] | undefined;
}

/** What completes a run. */
export interface RunEnd {
  readonly manifest: Manifest;
  /** The part of the summary that was found out; the rest is derived. */
  readonly findings: Pick<Summary, "metrics" | "outcomes" | "unknown_completions" | "alarms">;
  /** Heading of summary.md. */
  readonly title: string;
  /** The numbers in a sentence, for the run note. */
  readonly happened: string;
  /** Lines of Markdown that follow the table of summary.md. */
  readonly remarks?: readonly string[];
  readonly concrete: readonly ResultRow[];
  /** Further files by name, such as charts. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/**
 * A run that was just written.
 *
 * @see {@link evaluate}
 */
export interface FinishedRun {
  readonly dir: string;
  readonly manifest: Manifest;
  readonly summary: Summary;
}

const TEMPORARY = ".partial";

/** Writes one run folder. `open` claims it; then `finish` or `abandon`. */
export class RunWriter {
  readonly dir: string;
  readonly results: LineFile;
  /** Everything that waits under a temporary name. */
  readonly #written = new Set<string>([RESULTS]);
  readonly #lines = new Map<string, LineFile>();

  /** The first folder that had to be made for this run, which goes again if the run fails. */
  readonly #made: string | undefined;

  private constructor(dir: string, results: LineFile, made: string | undefined) {
    this.dir = dir;
    this.results = results;
    this.#made = made;
  }

  /** Claims the folder, or says why it must not be written. */
  static async open(dir: string, options: WriterOptions = {}): Promise<RunWriter> {
    refuseOwnInputs(dir, options.inputs ?? []);
    let made: string | undefined;
    try {
      made = await mkdir(dir, { recursive: true });
      await refuseForeignFolder(dir, options.force ?? false);
      await claim(dir);
      await refuseIfFinishedMeanwhile(dir, options.force ?? false);
      return new RunWriter(dir, await LineFile.create(path.join(dir, RESULTS + TEMPORARY)), made);
    } catch (error) {
      if (made) await removeEmpty(dir, made);
      if (error instanceof LockedRoomError) throw error;
      throw ioError(`write to ${dir}`, error, "usage");
    }
  }

  /** A further file of lines, such as a learning log. */
  async lines(name: string): Promise<LineFile> {
    this.#written.add(name);
    const file = await LineFile.create(this.#file(name + TEMPORARY));
    this.#lines.set(name, file);
    return file;
  }

  /** Puts every file in place, the summary last. */
  async finish(end: RunEnd): Promise<FinishedRun> {
    const folder = path.basename(path.resolve(this.dir));
    const manifest = { ...end.manifest, volatile: { ...end.manifest.volatile, folder } };
    const written: Record<string, string> = {};
    for (const [name, file] of this.#lines) written[name] = await file.end();
    for (const [name, content] of Object.entries(end.files ?? {})) written[name] = sha256(content);
    const summary: Summary = {
      schema: SUMMARY_SCHEMA,
      loop: manifest.loop,
      scorer: { name: manifest.scorer.name, version: manifest.scorer.version },
      ...end.findings,
      files: written,
      results_sha256: await this.results.end(),
      manifest_sha256: manifestFingerprint(manifest),
    };
    const files = Object.entries({
      ...end.files,
      [MANIFEST]: artifactJson(manifest),
      [SUMMARY_TEXT]: summaryText(end.title, summary, end.remarks),
      [NOTE]: stamped(runNote(manifest, summary, end.concrete, end.happened)),
      [SUMMARY]: artifactJson(summary),
    });
    try {
      for (const [name, content] of files) await this.#write(name, content);
      const replaced = await filesOfRun(this.dir);
      await rm(this.#file(SUMMARY), { force: true });
      for (const name of replaced) await rm(this.#file(name), { force: true });
      await keepEditedNote(this.dir);
      for (const name of this.#written) {
        await rename(this.#file(name + TEMPORARY), this.#file(name));
      }
      await unlink(this.#file(RUNNING));
      release(this.dir);
    } catch (error) {
      throw ioError(`write ${this.dir}`, error);
    }
    return { dir: this.dir, manifest, summary };
  }

  /** Lets go after a failure. What was in the folder before is still there; no run looks done. */
  async abandon(): Promise<void> {
    await this.results.abandon();
    for (const file of this.#lines.values()) await file.abandon();
    for (const name of this.#written) {
      await rm(this.#file(name + TEMPORARY), { force: true }).catch(() => {});
    }
    await rm(this.#file(RUNNING), { force: true }).catch(() => {});
    release(this.dir);
    if (this.#made) await removeEmpty(this.dir, this.#made);
  }

  async #write(name: string, content: string | Uint8Array): Promise<void> {
    this.#written.add(name);
    // What says "done" must not reach the disk by halves; the rest is held by its hashes.
    await writeNew(this.#file(name + TEMPORARY), content, name === SUMMARY);
  }

  #file(name: string): string {
    return path.join(this.dir, name);
  }
}

/** Another writer may have ended between the first look and our claim. */
async function refuseIfFinishedMeanwhile(dir: string, force: boolean): Promise<void> {
  try {
    await refuseFinishedRun(dir, force);
  } catch (error) {
    await rm(path.join(dir, RUNNING), { force: true });
    release(dir);
    throw error;
  }
}

/** Removes the folders from `dir` up to `made`, as long as they are empty. */
export async function removeEmpty(dir: string, made: string): Promise<void> {
  await rm(path.join(dir, RUNNING), { force: true }).catch(() => {});
  for (
    let folder = path.resolve(dir);
    folder.length >= path.resolve(made).length;
    folder = path.dirname(folder)
  ) {
    if (
      !(await rmdir(folder).then(
        () => true,
        () => false,
      ))
    )
      return;
  }
}

/** Sorted keys like everything that is compared, indented because people read it. */
export function artifactJson(value: unknown): string {
  return `${JSON.stringify(JSON.parse(canonicalJson(value)), null, 2)}\n`;
}
