/** Rows of a data set, or of the answers to one, from a file or from memory. */

import { dataError, messageOf, usageError } from "../core/errors.ts";
import { SequenceFingerprint } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import { isFields } from "../core/records.ts";
import { JsonlFile, type ReadOptions } from "./jsonl.ts";
import type { Manifest } from "./schemas.ts";

/**
 * A JSONL file by its path, or the rows themselves.
 * @example
 * ```ts
 * import { type Completion, evaluate } from "lockedroom";
 * async function* sampled(): AsyncGenerator<Completion> {
 *   yield { id: "sum-1", completion: "Final: 2" };
 * }
 * await evaluate({ dataset: "dataset.jsonl", completions: sampled(), outdir: "runs/streamed" });
 * ```
 */
export type RowSource<T> = string | AsyncIterable<T> | Iterable<T>;

/** Rows being read. `sha256` and the counts are complete once `batches()` has ended. */
export interface Rows<T> {
  /** Null where there is no file. */
  readonly path: string | null;
  /** What messages call it. */
  readonly label: string;
  readonly rows: number;
  readonly sha256: string;
  /** How a manifest names it. */
  asInput(role: string): InputEntry;
  batches(): AsyncGenerator<T[], void, void>;
}

export type InputEntry = Manifest["inputs"][number];

/** `line` is that of a file. */
type Parse<T> = (fields: Record<string, unknown>, line?: number) => T;

/** `what` names rows that have no file. */
export function openRows<T>(
  source: RowSource<unknown>,
  what: string,
  parse: Parse<T>,
  options: ReadOptions = {},
): Rows<T> {
  if (typeof source === "string") return new JsonlFile(source, parse, options);
  requireIterable(source, what);
  return new MemoryRows(source, what, parse);
}

function requireIterable(source: unknown, what: string): void {
  const given = Object(source ?? {});
  if (typeof source === "object" && (Symbol.iterator in given || Symbol.asyncIterator in given))
    return;
  throw usageError(
    `the ${what} must be a path or rows, not ${source === null ? "null" : typeof source}`,
    "Give the path of a JSONL file, an array of rows, or an (async) iterable of them.",
  );
}

/** The files among sources, which must not lie in the folder that is written. */
export function filesAmong(...sources: readonly RowSource<unknown>[]): string[] {
  return sources.filter((source) => typeof source === "string");
}

const BATCH_ROWS = 256;

/**
 * Rows from memory count as the file of their canonical JSON, one a line: the same rows have the
 * same hash wherever they come from. Each is copied, so that nothing else can change it.
 */
class MemoryRows<T> implements Rows<T> {
  readonly path = null;
  readonly label: string;
  readonly #source: AsyncIterable<unknown> | Iterable<unknown>;
  readonly #parse: Parse<T>;
  readonly #hash = new SequenceFingerprint();
  rows = 0;
  bytes = 0;
  sha256 = "";

  constructor(source: AsyncIterable<unknown> | Iterable<unknown>, what: string, parse: Parse<T>) {
    this.label = `the ${what}`;
    this.#source = source;
    this.#parse = parse;
  }

  asInput(role: string): InputEntry {
    return { role, path: null, sha256: this.sha256, bytes: this.bytes, rows: this.rows };
  }

  async *batches(): AsyncGenerator<T[], void, void> {
    let batch: T[] = [];
    for await (const row of this.#source) {
      batch.push(this.#record(row));
      if (batch.length < BATCH_ROWS) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
    this.sha256 = this.#hash.digest();
  }

  #record(row: unknown): T {
    this.rows++;
    try {
      const text = jsonOf(row);
      this.#hash.add(text);
      this.bytes += Buffer.byteLength(text) + 1;
      return this.#parse(JSON.parse(text));
    } catch (error) {
      throw dataError(
        `${this.label}, row ${this.rows}: ${messageOf(error)}`,
        "Give rows of plain JSON values, as a JSONL file would hold them.",
      );
    }
  }
}

function jsonOf(row: unknown): string {
  if (!isFields(row)) throw new TypeError("not an object");
  const text = canonicalJson(row);
  requirePlain(row);
  // A date and the like become something else in a file.
  if (canonicalJson(JSON.parse(JSON.stringify(row))) !== text)
    throw new TypeError("not plain JSON values");
  return text;
}

/** A Map, a Set or an object of a class would lose what it holds. */
function requirePlain(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const parent = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && parent !== null && Object.getPrototypeOf(parent) !== null)
    throw new TypeError(`not plain JSON values: it holds a ${parent.constructor?.name}`);
  for (const member of Object.values(value)) requirePlain(member);
}

/** Takes rows one at a time from what is read in batches, without a promise for each row. */
export class RowCursor<T> {
  readonly #batches: AsyncGenerator<T[], void, void>;
  #batch: readonly T[] = [];
  #index = 0;

  constructor(file: Pick<Rows<T>, "batches">) {
    this.#batches = file.batches();
  }

  /** The next row of the batch in memory; undefined at its end, when `read` gets the next batch. */
  buffered(): T | undefined {
    return this.#batch[this.#index++];
  }

  /** The next row from the file; undefined at its end. */
  async read(): Promise<T | undefined> {
    const step = await this.#batches.next();
    this.#batch = step.done ? [] : step.value;
    this.#index = 1;
    return this.#batch[0];
  }

  /** Lets go of the file, read to its end or not. */
  async close(): Promise<void> {
    await this.#batches.return();
  }
}
