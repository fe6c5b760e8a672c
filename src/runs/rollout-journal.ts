/**
 * Answers in the order they arrived, on disk before anything else is done with them. The first line
 * identifies the rollout; a resumed one adds to it only if its identity is the same.
 */

import { rm } from "node:fs/promises";
import type { z } from "zod";
import { dataError, ioError, messageOf, usageError } from "../core/errors.ts";
import { IdSet } from "../core/id-set.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { JOURNAL, JOURNAL_SCHEMA } from "./artifacts.ts";
import { JsonlFile } from "./jsonl.ts";
import { GrowingFile, lastLineEnd, openIfThere } from "./line-files.ts";
import {
  type Journaled,
  type JournaledEpisode,
  journaledEpisodeSchema,
  journalRowSchema,
} from "./rollout-schemas.ts";
import type { RunFolder } from "./run-folder.ts";
import { parseWith } from "./whole-file.ts";

/** What makes two rollouts the same one: the answers of either would do for the other. */
export interface RolloutIdentity {
  readonly dataset_sha256?: string;
  readonly environment?: JsonObject;
  readonly tasks_sha256?: string;
  readonly n: number;
  readonly policy: JsonObject;
  readonly prompt: JsonObject;
  readonly sampling: JsonObject;
}

const WORDS: Record<keyof RolloutIdentity, string> = {
  dataset_sha256: "the data set",
  environment: "the environment",
  tasks_sha256: "the tasks (--split, --tasks)",
  n: "--n",
  policy: "the policy",
  prompt: "the prompt (--system)",
  sampling: "the sampling settings",
};

/** Refuses to go on with answers to something else, naming what differs. */
export function requireSame(dir: string, before: JsonObject, now: RolloutIdentity): void {
  const differs = (Object.keys(WORDS) as (keyof RolloutIdentity)[]).filter(
    (key) => canonicalJson(before[key] ?? null) !== canonicalJson((now[key] as Json) ?? null),
  );
  if (differs.length === 0) return;
  throw usageError(
    `${dir} was started with something else; what differs: ${differs.map((key) => WORDS[key]).join(", ")}`,
    "Give the same flags and files as then, choose another --outdir, or start over with --force.",
  );
}

interface SampleKey {
  readonly id: string;
  readonly sample: number;
}

/** What the lines after the first hold. */
export interface JournalFormat<Row extends SampleKey> {
  readonly schema: z.ZodType<Row>;
  /** In what two lines for the same sample must agree. */
  content(row: Row): Json;
}

export const ANSWERS: JournalFormat<Journaled> = {
  schema: journalRowSchema,
  content: ({ answer }) => answer as unknown as Json,
};

export const EPISODES: JournalFormat<JournaledEpisode> = {
  schema: journaledEpisodeSchema,
  content: ({ trajectory }) => trajectory as unknown as Json,
};

export class Journal<Row extends SampleKey = Journaled> {
  readonly path: string;
  /** How many answers were added. */
  added = 0;
  /** Begun by this process: as long as nothing was added there is nothing in it. */
  readonly isNew: boolean;
  /** How many answers it held when it was opened. */
  readonly kept: number;
  readonly #held: IdSet;
  readonly #file: GrowingFile;
  readonly #format: JournalFormat<Row>;

  private constructor(
    file: GrowingFile,
    isNew: boolean,
    { held, kept }: Held,
    format: JournalFormat<Row>,
  ) {
    this.#format = format;
    this.path = file.path;
    this.isNew = isNew;
    this.kept = kept;
    this.#held = held;
    this.#file = file;
  }

  /** Begins a new journal, or with `resume` continues the one that is there. */
  static async open<Row extends SampleKey>(
    folder: RunFolder,
    identity: RolloutIdentity,
    resume: boolean,
    format: JournalFormat<Row>,
  ): Promise<Journal<Row>> {
    const path = folder.file(JOURNAL);
    try {
      const [kept, header] = resume ? await wholeLines(path) : [0, undefined];
      if (header) {
        requireHeader(path, header);
        requireSame(folder.dir, header, identity);
        // Before the file is opened for writing: one that is refused stays as it is.
        const held = await answersIn(path, kept, identity.n, format);
        return new Journal(await GrowingFile.open(path, kept), false, held, format);
      }
      const nothing = { held: new IdSet(), kept: 0 };
      const journal = new Journal(await GrowingFile.open(path, 0), true, nothing, format);
      await journal.#file.add(canonicalJson({ schema: JOURNAL_SCHEMA, ...identity }));
      return journal;
    } catch (error) {
      throw ioError(`write ${path}`, error);
    }
  }

  /** Whether it held this sample of the example when it was opened. */
  holds(id: string, sample: number): boolean {
    return this.#held.has(keyOf({ id, sample }));
  }

  async add(row: Row): Promise<void> {
    await this.#file.add(canonicalJson(row as unknown as Json));
    this.added++;
  }

  /** A fresh pass over the answers. */
  async *read(): AsyncGenerator<Row[], void, void> {
    for await (const batch of linesOf(this.path, this.#format)) {
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
  for await (const batch of new JsonlFile(path, (fields) => fields as JsonObject, {
    regular: true,
  }).batches()) {
    return [end, batch[0]];
  }
  return [0, undefined];
}

interface Held {
  readonly held: IdSet;
  /** Different samples. */
  readonly kept: number;
}

const keyOf = ({ id, sample }: SampleKey) => `${sample} ${id}`;

/** What a journal holds; refuses one whose lines are no answers, or contradict each other. */
async function answersIn<Row extends SampleKey>(
  path: string,
  upTo: number,
  n: number,
  format: JournalFormat<Row>,
): Promise<Held> {
  const held = new IdSet();
  const twice = new Map<string, string | undefined>();
  let kept = 0;
  for await (const batch of linesOf(path, format, upTo)) {
    for (const row of batch) {
      if (row === undefined) continue;
      if (row.sample >= n) throw notOurs(path, `it holds sample ${row.sample} with --n ${n}`);
      if (held.add(keyOf(row))) twice.set(keyOf(row), undefined);
      else kept++;
    }
  }
  if (twice.size > 0) await requireAgreement(path, upTo, twice, format);
  return { held, kept };
}

/** A second pass, which compares the answers of samples that stand there more than once. */
async function requireAgreement<Row extends SampleKey>(
  path: string,
  upTo: number,
  twice: Map<string, string | undefined>,
  format: JournalFormat<Row>,
): Promise<void> {
  for await (const batch of linesOf(path, format, upTo)) {
    for (const row of batch) {
      if (row === undefined || !twice.has(keyOf(row))) continue;
      const answer = canonicalJson(format.content(row));
      const before = twice.get(keyOf(row)) ?? answer;
      if (before !== answer) {
        const which = `sample ${row.sample} of example ${JSON.stringify(row.id)}`;
        throw notOurs(path, `it holds two different answers for ${which}`);
      }
      twice.set(keyOf(row), answer);
    }
  }
}

const CHANGED = "It was changed by hand or damaged. Restore it, or start over with --force.";

function notOurs(path: string, problem: string): Error {
  return dataError(`${path} is not as the rollout wrote it: ${problem}`, CHANGED);
}

function requireHeader(path: string, header: JsonObject): void {
  if (header.schema === JOURNAL_SCHEMA) return;
  throw dataError(
    `${path} is damaged or of another version: its first line is no ${JOURNAL_SCHEMA}`,
    "Start over with --force, or choose another --outdir.",
  );
}

/** A pass over the lines, up to so many bytes; undefined for the header. */
function linesOf<Row extends SampleKey>(
  path: string,
  { schema }: JournalFormat<Row>,
  upTo?: number,
): AsyncIterable<(Row | undefined)[]> {
  const toRow = (fields: Record<string, unknown>): Row | undefined => {
    if (fields.schema === JOURNAL_SCHEMA) return undefined;
    try {
      return parseWith(schema, fields);
    } catch (error) {
      throw dataError(messageOf(error), CHANGED);
    }
  };
  const end = upTo === undefined ? {} : { upTo };
  return new JsonlFile(path, toRow, { ...end, regular: true }).batches();
}
