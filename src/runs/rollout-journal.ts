/**
 * Answers in the order they came, on disk before anything else is done with them. The first line
 * says what they are answers to; a resumed rollout adds to it only if that is still the same.
 */

import { type FileHandle, open, rm } from "node:fs/promises";
import type { Answer } from "../core/answer.ts";
import { dataError, ioError, usageError } from "../core/errors.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { JOURNAL_SCHEMA } from "./artifacts.ts";
import { JsonlFile } from "./jsonl.ts";

/** One answer, and which sample of which example it is. */
export interface Journaled {
  readonly id: string;
  readonly sample: number;
  readonly answer: Answer;
}

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
    `${dir} was begun with something else; what differs: ${differs.map((key) => WORDS[key]).join(", ")}`,
    "Give the same flags and files as then, choose another --outdir, or start over with --force.",
  );
}

const NEWLINE = 10;

export class Journal {
  readonly path: string;
  /** How many answers were added. */
  added = 0;
  /** Begun in this sitting: as long as nothing was added there is nothing in it. */
  readonly isNew: boolean;
  #file: FileHandle | undefined;

  private constructor(path: string, isNew: boolean) {
    this.path = path;
    this.isNew = isNew;
  }

  /** Begins a new journal; one that was there is gone. */
  static async begin(path: string, identity: RolloutIdentity): Promise<Journal> {
    const journal = new Journal(path, true);
    await rm(path, { force: true });
    journal.#file = await open(path, "ax");
    await journal.#write(canonicalJson({ schema: JOURNAL_SCHEMA, ...identity }));
    return journal;
  }

  /**
   * Goes on with the journal that is there, or begins one. A last line without an end was being
   * written when the process died: nobody can tell what it would have said, so it goes.
   */
  static async resume(dir: string, path: string, identity: RolloutIdentity): Promise<Journal> {
    const header = await mend(path);
    if (header === undefined) return Journal.begin(path, identity);
    requireHeader(path, header);
    requireSame(dir, header, identity);
    const journal = new Journal(path, false);
    journal.#file = await open(path, "a");
    return journal;
  }

  async add(answer: Journaled): Promise<void> {
    await this.#write(canonicalJson(answer));
    this.added++;
  }

  async #write(line: string): Promise<void> {
    try {
      await this.#file?.writeFile(`${line}\n`);
    } catch (error) {
      throw ioError(`write ${this.path}`, error);
    }
  }

  /** A fresh pass over the answers. */
  async *read(): AsyncGenerator<Journaled[], void, void> {
    for await (const batch of new JsonlFile(this.path, toJournaled).batches()) {
      yield batch.filter((line) => line !== undefined);
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

/** Cuts off a line that was not finished, and gives the first one; undefined when none is whole. */
async function mend(path: string): Promise<JsonObject | undefined> {
  const file = await open(path, "r+").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw ioError(`read ${path}`, error);
  });
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const end = await lastLineEnd(file, size);
    if (end < size) await file.truncate(end);
  } finally {
    await file.close();
  }
  for await (const batch of new JsonlFile(path, (fields) => fields as JsonObject).batches()) {
    return batch[0];
  }
  return undefined;
}

async function lastLineEnd(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.allocUnsafe(64 * 1024);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const at = chunk.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
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
  if (fields.schema === JOURNAL_SCHEMA) return undefined;
  const { id, sample, answer } = fields;
  if (
    typeof id === "string" &&
    Number.isSafeInteger(sample) &&
    (sample as number) >= 0 &&
    isFields(answer)
  )
    return fields as unknown as Journaled;
  throw new TypeError("this is no answer of a rollout");
}
