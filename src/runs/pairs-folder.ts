/** A folder of preference data from claim to summary: its files appear together, `summary.json` last. */

import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { ioError, LockedRoomError, usageError } from "../core/errors.ts";
import { fingerprint } from "../core/fingerprint.ts";
import { MANIFEST, RUNNING, SUMMARY } from "./artifacts.ts";
import { claim, refuseOwnInputs, release } from "./claim.ts";
import { LineFile, writeNew } from "./lines.ts";
import { PAIRS_SUMMARY_SCHEMA, type PairsManifest, type PairsSummary } from "./pairs-schemas.ts";
import { artifactJson, removeEmpty, type WriterOptions } from "./writer.ts";

export const PAIRS = "pairs.jsonl";
export const LABELS = "labels.jsonl";

export interface FinishedPairs {
  readonly dir: string;
  /** The file of pairs, as `train dpo` is given it. */
  readonly pairs: string;
  /** The file of labels, as `train kto` is given it. */
  readonly labels: string;
  readonly manifest: PairsManifest;
  readonly summary: PairsSummary;
}

const TEMPORARY = ".partial";
const FILES = [PAIRS, LABELS, MANIFEST, SUMMARY];

export class PairsFolder {
  readonly dir: string;
  readonly pairs: LineFile;
  readonly labels: LineFile;
  /** The first folder that had to be made, which goes again if nothing comes of it. */
  readonly #made: string | undefined;

  private constructor(dir: string, pairs: LineFile, labels: LineFile, made: string | undefined) {
    this.dir = dir;
    this.pairs = pairs;
    this.labels = labels;
    this.#made = made;
  }

  /** Claims the folder, or says why it must not be written. */
  static async open(
    dir: string,
    { force = false, inputs = [] }: WriterOptions,
  ): Promise<PairsFolder> {
    refuseOwnInputs(dir, inputs);
    let made: string | undefined;
    let claimed = false;
    try {
      made = await mkdir(dir, { recursive: true });
      await refuse(dir, force);
      await claim(dir);
      claimed = true;
      await refuse(dir, force); // Another writer may have ended between the first look and our claim.
      const lines = (name: string) => LineFile.create(path.join(dir, name + TEMPORARY));
      return new PairsFolder(dir, await lines(PAIRS), await lines(LABELS), made);
    } catch (error) {
      if (claimed) await unclaim(dir);
      if (made) await removeEmpty(dir, made);
      if (error instanceof LockedRoomError) throw error;
      throw ioError(`write to ${dir}`, error, "usage");
    }
  }

  /** Puts every file in place, the summary last. */
  async finish(
    manifest: PairsManifest,
    found: Omit<PairsSummary, "schema" | "scorer" | "files" | "manifest_sha256">,
  ): Promise<FinishedPairs> {
    const { name, version } = manifest.scorer;
    try {
      const files = { [PAIRS]: await this.pairs.end(), [LABELS]: await this.labels.end() };
      const summary: PairsSummary = {
        schema: PAIRS_SUMMARY_SCHEMA,
        scorer: { name, version },
        ...found,
        files,
        manifest_sha256: fingerprint(fixed(manifest)),
      };
      await writeNew(this.#file(MANIFEST + TEMPORARY), artifactJson(manifest), false);
      // What says "done" must not reach the disk by halves; the rest is held by its hashes.
      await writeNew(this.#file(SUMMARY + TEMPORARY), artifactJson(summary), true);
      await rm(this.#file(SUMMARY), { force: true });
      for (const file of FILES) await rename(this.#file(file + TEMPORARY), this.#file(file));
      await unclaim(this.dir);
      return { ...this.#paths, manifest, summary };
    } catch (error) {
      throw error instanceof LockedRoomError ? error : ioError(`write ${this.dir}`, error);
    }
  }

  /** Lets go after a failure. What was in the folder before is still there. */
  async leave(): Promise<void> {
    await this.pairs.abandon();
    await this.labels.abandon();
    for (const file of FILES) {
      await rm(this.#file(file + TEMPORARY), { force: true }).catch(() => {});
    }
    await unclaim(this.dir);
    if (this.#made) await removeEmpty(this.dir, this.#made);
  }

  get #paths(): Pick<FinishedPairs, "dir" | "pairs" | "labels"> {
    return { dir: this.dir, pairs: this.#file(PAIRS), labels: this.#file(LABELS) };
  }

  #file(name: string): string {
    return path.join(this.dir, name);
  }
}

async function unclaim(dir: string): Promise<void> {
  await rm(path.join(dir, RUNNING), { force: true }).catch(() => {});
  release(dir);
}

/** Ours to write: an empty folder, what an interrupted call left, or with force finished pairs. */
async function refuse(dir: string, force: boolean): Promise<void> {
  const all = await readdir(dir);
  const names = all.filter((name) => !name.startsWith(RUNNING));
  const text = await readFile(path.join(dir, SUMMARY), "utf8").catch(() => "");
  if (text.includes(`"${PAIRS_SUMMARY_SCHEMA}"`)) {
    if (force) return;
    throw usageError(
      `${dir} already holds finished pairs`,
      "Choose another --outdir, or replace them with --force.",
    );
  }
  const ours = FILES.flatMap((name) => [name, name + TEMPORARY]);
  const interrupted = all.length > names.length && names.every((name) => ours.includes(name));
  if (names.length === 0 || (interrupted && text === "")) return;
  throw usageError(
    `${dir} is not empty and holds no pairs (it holds ${names.slice(0, 3).join(", ")})`,
    "Choose a new or empty folder for --outdir.",
  );
}

/** Where the files lay and when it was does not matter, only what was in them. */
function fixed({ volatile: _volatile, inputs, scorer, ...rest }: PairsManifest): object {
  const { path: _path, ...identity } = scorer;
  return {
    ...rest,
    scorer: identity,
    inputs: inputs.map(({ path: _inputPath, ...input }) => input),
  };
}
