/**
 * Joins a data set with the answers to it, in data-set order. Rows in the same order are
 * joined as they flow; an answer that comes early is held until its example arrives.
 */

import { dataError } from "../core/errors.ts";
import type { Example } from "../core/records.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import { RowCursor, type Rows } from "../runs/rows.ts";
import { isPipe } from "../runs/whole-file.ts";

export interface Joined<T> {
  readonly example: Example;
  /** Undefined when no answer names this example. */
  readonly answer: T | undefined;
}

/** Answers that name no example; complete once the join has ended. */
export interface Unknown {
  count: number;
  readonly first_ids: string[];
}

const FIRST_IDS = 5;

export async function* joinById<T extends { readonly id: string }>(
  examples: Rows<Example>,
  answers: Rows<T>,
  unknown: Unknown,
  batchSize = 256,
): AsyncGenerator<Joined<T>[], void, void> {
  const seen = new IdSet();
  const early = new Map<string, T>();
  const next = new RowCursor(answers);
  try {
    for await (const batch of examples.batches()) {
      let joined: Joined<T>[] = [];
      for (const example of batch) {
        if (seen.add(example.id)) await refuseDuplicate(examples, example.id);
        joined.push({ example, answer: await answerTo(example.id) });
        if (joined.length < batchSize) continue;
        yield joined;
        joined = [];
      }
      if (joined.length > 0) yield joined;
    }
    if (examples.rows === 0)
      throw dataError(`${examples.label} is empty`, "Give at least one example.");
    await answerTo(undefined);
  } finally {
    await next.close();
  }
  if (answers.rows === 0) throw dataError(`${answers.label} is empty`, "Give one row per example.");
  unknown.count = early.size;
  unknown.first_ids.push(...[...early.keys()].slice(0, FIRST_IDS));

  /** Reads on until the answer to `id` is found, or to the end, holding what belongs elsewhere. */
  async function answerTo(id: string | undefined): Promise<T | undefined> {
    const held = id === undefined ? undefined : early.get(id);
    if (held && early.delete(held.id)) return held;
    for (;;) {
      const answer = next.buffered() ?? (await next.read());
      if (answer === undefined || answer.id === id) return answer;
      if (early.has(answer.id) || seen.has(answer.id)) await refuseDuplicate(answers, answer.id);
      early.set(answer.id, answer);
    }
  }
}

/** Reads the file again to be sure; an id that occurs exactly once was a hash collision. */
export async function refuseDuplicate<T>({ path, label }: Rows<T>, id: string): Promise<void> {
  const again = path !== null && !isPipe(path); // A pipe cannot be read again.
  let found = 0;
  for await (const batch of again ? new JsonlFile(path, (fields) => fields.id).batches() : []) {
    found += batch.filter((other) => other === id).length;
  }
  if (found === 1) return;
  throw dataError(
    `${label}: the id ${JSON.stringify(id)} appears more than once`,
    "Give every row an id of its own.",
  );
}

export class IdSet {
  #table = new Uint32Array(2 * 1024);
  #size = 0;

  /** Adds an id; true when its hash was there already. */
  add(id: string): boolean {
    if (this.#size * 4 > this.#table.length) this.#grow();
    const [high, low] = hash(id);
    const slot = this.#find(this.#table, high, low);
    if (this.#table[slot + 1] !== 0) return true;
    this.#table[slot] = high;
    this.#table[slot + 1] = low;
    this.#size++;
    return false;
  }

  has(id: string): boolean {
    const [high, low] = hash(id);
    return this.#table[this.#find(this.#table, high, low) + 1] !== 0;
  }

  /** The slot that holds the hash, or the empty one where it belongs. */
  #find(table: Uint32Array, high: number, low: number): number {
    const mask = table.length / 2 - 1;
    let slot = high & mask;
    while (
      table[2 * slot + 1] !== 0 &&
      !(table[2 * slot] === high && table[2 * slot + 1] === low)
    ) {
      slot = (slot + 1) & mask;
    }
    return 2 * slot;
  }

  #grow(): void {
    const larger = new Uint32Array(2 * this.#table.length);
    for (let i = 0; i < this.#table.length; i += 2) {
      const [high, low] = [this.#table[i] as number, this.#table[i + 1] as number];
      if (low !== 0) larger.set([high, low], this.#find(larger, high, low));
    }
    this.#table = larger;
  }
}

/** Two murmur-style 32-bit lanes; the low word is never 0, which marks an empty slot. */
function hash(id: string): [high: number, low: number] {
  let a = 0x9747b28c;
  let b = 0x3c6ef372;
  for (let i = 0; i < id.length; i++) {
    const unit = id.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x5bd1e995);
    a ^= a >>> 15;
    b = Math.imul(b ^ unit, 0xcc9e2d51);
    b ^= b >>> 13;
  }
  a = Math.imul(a ^ (a >>> 16) ^ b, 0x85ebca6b);
  b = Math.imul(b ^ (b >>> 16), 0xc2b2ae35);
  return [(a ^ (a >>> 13)) >>> 0, (b ^ (b >>> 16)) >>> 0 || 1];
}
