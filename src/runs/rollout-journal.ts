/**
 * Answers in the order they arrived, on disk before anything else is done with them. The first line
 * identifies the rollout; a resumed one adds to it only if its identity is the same.
 */

import { rm } from "node:fs/promises";
import { dataError, ioError, usageError } from "../core/errors.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { JOURNAL, JOURNAL_SCHEMA } from "./artifacts.ts";
import { JsonlFile } from "./jsonl.ts";
import { GrowingFile, lastLineEnd, openIfThere } from "./line-files.ts";
import { type Journaled, journalRowSchema } from "./rollout-schemas.ts";
import type { RunFolder } from "./run-folder.ts";
import { parseWith } from "./whole-file.ts";

/** What makes two rollouts the same one: the answers of either would do for the other. */
export interface RolloutIdentity {
  readonly dataset_sha256: string;
  readonly n: number;
  readonly policy: JsonObject;
  readonly prompt: JsonObject;
  readonly sampling: JsonObject;
}

const WORDS: Record<keyof RolloutIdentity, string> = {
  dataset_sha256: "the data set",
  n: "--n",
  policy: "the policy",
  prompt: "the prompt (--system)",
  sampling: "the sampling settings",
};

/** Refuses to go on with answers to something else, naming what differs. */
export function requireSame(dir: string, before: JsonObject, now: RolloutIdentity): void {
  const differs = (Object.keys(WORDS) as (keyof RolloutIdentity)[]).filter(
    (key) => canonicalJson(before[key] ?? null) !== canonicalJson(now[key] as Json),
  );
  if (differs.length === 0) return;
  throw usageError(
    `${dir} was started with something else; what differs: ${differs.map((key) => WORDS[key]).join(", ")}`,
    "Give the same flags and files as then, choose another --outdir, or start over with --force.",
  );
}

export class Journal {
  readonly path: string;
  /** How many answers were added. */
  added = 0;
  /** Begun by this process: as long as nothing was added there is nothing in it. */
  readonly isNew: boolean;
  readonly #file: GrowingFile;

  private constructor(file: GrowingFile, isNew: boolean) {
    this.path = file.path;
    this.isNew = isNew;
    this.#file = file;
  }

  /** Begins a new journal, or with `resume` continues the one that is there. */
  static async open(
    folder: RunFolder,
    identity: RolloutIdentity,
    resume: boolean,
  ): Promise<Journal> {
    const path = folder.file(JOURNAL);
    try {
      const [kept, header] = resume ? await wholeLines(path) : [0, undefined];
      if (header) {
        requireHeader(path, header);
        requireSame(folder.dir, header, identity);
        return new Journal(await GrowingFile.open(path, kept), false);
      }
      const journal = new Journal(await GrowingFile.open(path, 0), true);
      await journal.#file.add(canonicalJson({ schema: JOURNAL_SCHEMA, ...identity }));
      return journal;
    } catch (error) {
      throw ioError(`write ${path}`, error);
    }
  }

  async add(answer: Journaled): Promise<void> {
    await this.#file.add(canonicalJson(answer));
    this.added++;
  }

  /** A fresh pass over the answers. */
  async *read(): AsyncGenerator<Journaled[], void, void> {
    for await (const batch of new JsonlFile(this.path, toJournaled).batches()) {
      yield batch.filter((line) => line !== undefined);
    }
  }

  /** A journal with answers stays for --resume; an empty one is removed. */
  async close(): Promise<void> {
    await this.#file.close().catch(() => {});
    if (this.isNew && this.added === 0) await rm(this.path, { force: true }).catch(() => {});
  }
}

/**
 * How many bytes of the journal are whole lines, and the first of them. A last line without an end
 * was being written when the process died.
 */
async function wholeLines(path: string): Promise<[bytes: number, header: JsonObject | undefined]> {
  const file = await openIfThere(path);
  if (file === undefined) return [0, undefined];
  const end = await lastLineEnd(file, (await file.stat()).size).finally(() => file.close());
  if (end === 0) return [0, undefined];
  for await (const batch of new JsonlFile(path, (fields) => fields as JsonObject).batches()) {
    return [end, batch[0]];
  }
  return [0, undefined];
}

function requireHeader(path: string, header: JsonObject): void {
  if (header.schema === JOURNAL_SCHEMA) return;
  throw dataError(
    `${path} is damaged or of another version: its first line is no ${JOURNAL_SCHEMA}`,
    "Start over with --force, or choose another --outdir.",
  );
}

/** Undefined for the header. */
function toJournaled(fields: Record<string, unknown>): Journaled | undefined {
  return fields.schema === JOURNAL_SCHEMA ? undefined : parseWith(journalRowSchema, fields);
}
