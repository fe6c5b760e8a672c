/**
 * A rollout's folder from claim to summary. Answers are paid for, so what came is kept: in the
 * journal until everything is there, then in files that appear together, `summary.json` last.
 */

import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { ioError, LockedRoomError, usageError } from "../core/errors.ts";
import { fingerprint, sha256 } from "../core/fingerprint.ts";
import type { JsonObject } from "../core/json.ts";
import {
  COMPLETIONS,
  JOURNAL,
  MANIFEST,
  PROVENANCE_SCHEMA,
  ROLLOUT_SUMMARY_SCHEMA,
  RUNNING,
  SAMPLES,
  SUMMARY,
} from "./artifacts.ts";
import { claim, filesOfRun, refuseOwnInputs, release } from "./claim.ts";
import { LineFile, writeNew } from "./lines.ts";
import { provenancePath } from "./provenance.ts";
import { Journal, type RolloutIdentity, requireSame } from "./rollout-journal.ts";
import type { RolloutManifest, RolloutSummary } from "./rollout-schemas.ts";
import { artifactJson, removeEmpty } from "./writer.ts";

export interface FolderOptions {
  /** Replace a finished rollout, or throw away an unfinished one. */
  readonly force?: boolean | undefined;
  /** Go on with an unfinished one. */
  readonly resume?: boolean | undefined;
  /** Files that are read; none may lie in the folder that is written. */
  readonly inputs: readonly string[];
}

export interface FinishedRollout {
  readonly dir: string;
  /** The file of answers, as eval or selection-demo are given it. */
  readonly answers: string;
  readonly manifest: RolloutManifest;
  readonly summary: RolloutSummary;
}

const TEMPORARY = ".partial";

export class RolloutFolder {
  readonly dir: string;
  readonly #options: FolderOptions;
  readonly #made: string | undefined;
  #journal: Journal | undefined;
  #answers: LineFile | undefined;

  private constructor(dir: string, options: FolderOptions, made: string | undefined) {
    this.dir = dir;
    this.#options = options;
    this.#made = made;
  }

  /** Claims the folder, or says why it must not be written. */
  static async open(dir: string, options: FolderOptions): Promise<RolloutFolder> {
    refuseOwnInputs(dir, options.inputs);
    let made: string | undefined;
    try {
      made = await mkdir(dir, { recursive: true });
      await refuse(dir, options);
      await claim(dir);
    } catch (error) {
      if (made) await removeEmpty(dir, made);
      if (error instanceof LockedRoomError) throw error;
      throw ioError(`write to ${dir}`, error, "usage");
    }
    const folder = new RolloutFolder(dir, options, made);
    try {
      await refuse(dir, options); // Another writer may have ended between the first look and our claim.
      return folder;
    } catch (error) {
      await folder.leave();
      throw error;
    }
  }

  /** The rollout that is wanted, if it is what the folder already holds and nothing is left to do. */
  async finished(identity: RolloutIdentity): Promise<FinishedRollout | undefined> {
    if (!this.#options.resume || existsSync(this.#file(JOURNAL))) return undefined;
    const summary = await readJson<RolloutSummary>(this.#file(SUMMARY));
    const manifest = await readJson<RolloutManifest>(this.#file(MANIFEST));
    if (summary === undefined || manifest === undefined) return undefined;
    try {
      requireSame(this.dir, asIdentity(manifest), identity);
    } catch (error) {
      if (this.#options.force) return undefined;
      throw error;
    }
    return { dir: this.dir, answers: this.#file(answersName(identity.n)), manifest, summary };
  }

  /** The journal to add answers to, with those that are kept from an earlier sitting. */
  async journal(identity: RolloutIdentity): Promise<Journal> {
    const file = this.#file(JOURNAL);
    try {
      this.#journal = this.#options.resume
        ? await Journal.resume(this.dir, file, identity)
        : await Journal.begin(file, identity);
      return this.#journal;
    } catch (error) {
      if (error instanceof LockedRoomError) throw error;
      throw ioError(`write ${file}`, error);
    }
  }

  /** Where the answers are written in the data set's order. */
  async answers(n: number): Promise<LineFile> {
    this.#answers = await LineFile.create(this.#file(answersName(n) + TEMPORARY));
    return this.#answers;
  }

  /** Puts every file in place, the summary last; only then the journal goes. */
  async finish(
    manifest: RolloutManifest,
    found: Omit<RolloutSummary, "schema" | "files" | "manifest_sha256">,
  ): Promise<FinishedRollout> {
    const name = answersName(manifest.n);
    try {
      const answersSha256 = (await this.#answers?.end()) ?? "";
      const provenance = artifactJson(provenanceOf(manifest, answersSha256));
      const provenanceName = path.basename(provenancePath(name));
      const summary: RolloutSummary = {
        schema: ROLLOUT_SUMMARY_SCHEMA,
        ...found,
        files: { [name]: answersSha256, [provenanceName]: sha256(provenance) },
        manifest_sha256: fingerprint(fixed(manifest)),
      };
      await this.#write(provenanceName, provenance);
      await this.#write(MANIFEST, artifactJson(manifest));
      await this.#write(SUMMARY, artifactJson(summary));
      await this.#journal?.close();
      const replaced = await filesOfRun(this.dir);
      for (const old of [SUMMARY, ...replaced]) await rm(this.#file(old), { force: true });
      for (const one of [name, provenanceName, MANIFEST, SUMMARY]) {
        await rename(this.#file(one + TEMPORARY), this.#file(one));
      }
      await rm(this.#file(JOURNAL), { force: true });
      await this.leave();
      return { dir: this.dir, answers: this.#file(name), manifest, summary };
    } catch (error) {
      if (error instanceof LockedRoomError) throw error;
      throw ioError(`write ${this.dir}`, error);
    }
  }

  /** Lets go. A journal with answers stays for --resume; one without is of no use to anybody. */
  async leave(): Promise<void> {
    await this.#journal?.close().catch(() => {});
    await this.#answers?.abandon();
    for (const name of await readdir(this.dir).catch(() => [])) {
      if (OURS.has(name)) await rm(this.#file(name), { force: true }).catch(() => {});
    }
    if (this.#journal?.isNew && this.#journal.added === 0)
      await rm(this.#file(JOURNAL), { force: true }).catch(() => {});
    await rm(this.#file(RUNNING), { force: true }).catch(() => {});
    release(this.dir);
    if (this.#made) await removeEmpty(this.dir, this.#made);
  }

  async #write(name: string, content: string): Promise<void> {
    // What says "done" must not reach the disk by halves; the rest is held by its hashes.
    await writeNew(this.#file(name + TEMPORARY), content, name === SUMMARY);
  }

  #file(name: string): string {
    return path.join(this.dir, name);
  }
}

/** What a rollout leaves under temporary names when it is interrupted. */
const OURS = new Set(
  [COMPLETIONS, SAMPLES]
    .flatMap((name) => [name, provenancePath(name)])
    .concat(MANIFEST, SUMMARY)
    .map((name) => name + TEMPORARY),
);

function answersName(n: number): string {
  return n === 1 ? COMPLETIONS : SAMPLES;
}

async function refuse(dir: string, { force, resume }: FolderOptions): Promise<void> {
  const names = (await readdir(dir)).filter((name) => !name.startsWith(RUNNING) && !OURS.has(name));
  if (names.length === 0) return;
  if (names.includes(JOURNAL)) {
    if (force || resume) return;
    throw usageError(
      `${dir} holds an unfinished rollout`,
      "Go on with the same command and --resume, or start over with --force.",
    );
  }
  const summary = await readJson<JsonObject>(path.join(dir, SUMMARY));
  if (summary === undefined) {
    throw usageError(
      `${dir} is not empty and is not a rollout (it holds ${names.slice(0, 3).join(", ")})`,
      "Choose a new or empty folder for --outdir.",
    );
  }
  if (summary.schema !== ROLLOUT_SUMMARY_SCHEMA) {
    throw usageError(`${dir} holds a run of another command`, "Choose another --outdir.");
  }
  if (force || resume) return;
  throw usageError(
    `${dir} already holds a finished rollout`,
    "Choose another --outdir, or replace it with --force.",
  );
}

async function readJson<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}

function provenanceOf({ policy, prompt, sampling }: RolloutManifest, sha: string): JsonObject {
  return {
    schema: PROVENANCE_SCHEMA,
    completions_sha256: sha,
    policy: policy as JsonObject,
    prompt: prompt as JsonObject,
    sampling: sampling as JsonObject,
  };
}

/** Where the data set lay and when it was does not matter, only what was in it. */
function fixed({ volatile: _volatile, inputs, ...rest }: RolloutManifest): object {
  return { ...rest, inputs: inputs.map(({ path: _path, ...input }) => input) };
}

function asIdentity({ inputs, n, policy, prompt, sampling }: RolloutManifest): JsonObject {
  return { dataset_sha256: inputs[0]?.sha256, n, policy, prompt, sampling } as JsonObject;
}
