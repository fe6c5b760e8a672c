/**
 * A compact set of prompts, which travels with the policy that learned from them: 40 bits of the
 * SHA-256 of each normalised prompt, sorted, as differences in a Rice code. Another prompt is taken for
 * one of n with probability n / 2^40. Sets of one kind can be joined, whatever their sizes.
 */

import { createHash, type Hash, hash as hashOnce } from "node:crypto";
import { normalisedPrompt } from "./prompt-fingerprint.ts";

const RANGE = 2 ** 40;
const LINE_END = /\r\n|[\n\r\u2028\u2029]/;
const WORD_AFTER = /[\p{L}\p{N}]$/u;
const WORD_BEFORE = /^[\p{L}\p{N}]/u;
/** So many are searched one by one before they are sorted in. */
const FEW = 32;

export class PromptSet {
  /** Each once. */
  #sorted: Float64Array;
  /** Added since, in any order, perhaps several times: a set that only grows is sorted once. */
  #added = new Float64Array(FEW);
  #addedCount = 0;

  constructor(hashes: Iterable<number> = []) {
    this.#sorted = sortedOnce(Float64Array.from(hashes));
  }

  get size(): number {
    return this.#settled().length;
  }

  /** The probability that a prompt which was never added is taken for one that was. */
  get falsePositiveRate(): number {
    return this.size / RANGE;
  }

  add(prompt: string): void {
    this.#put(numberOf(normalisedPrompt(prompt)));
  }

  /**
   * Adds a text that may hold prompts: every line, and every beginning that ends with a line. Lines
   * are normalised one by one, so that a long text costs no more than its length.
   */
  addText(text: string): void {
    const beginning = new Beginning();
    for (const line of text.split(LINE_END)) {
      const own = normalisedPrompt(line);
      if (own === "") continue;
      this.#put(numberOf(own));
      if (beginning.extend(own)) this.#put(beginning.number());
    }
  }

  has(prompt: string): boolean {
    const wanted = numberOf(normalisedPrompt(prompt));
    if (this.#addedCount > FEW) this.#settled();
    return this.#added.subarray(0, this.#addedCount).includes(wanted) || isIn(this.#sorted, wanted);
  }

  /** How many are in both. */
  sharedWith(other: PromptSet): number {
    const theirs = other.#settled();
    let count = 0;
    for (const hash of this.#settled()) if (isIn(theirs, hash)) count++;
    return count;
  }

  joinedWith(other: PromptSet): PromptSet {
    const both = new PromptSet();
    both.#sorted = sortedOnce(joined(this.#settled(), other.#settled()));
    return both;
  }

  #put(hash: number): void {
    if (this.#addedCount === this.#added.length) {
      const longer = new Float64Array(2 * this.#addedCount);
      longer.set(this.#added);
      this.#added = longer;
    }
    this.#added[this.#addedCount++] = hash;
  }

  /** All hashes, sorted. */
  #settled(): Float64Array {
    if (this.#addedCount === 0) return this.#sorted;
    const added = this.#added.subarray(0, this.#addedCount);
    this.#sorted = sortedOnce(joined(this.#sorted, added));
    this.#added = new Float64Array(FEW);
    this.#addedCount = 0;
    return this.#sorted;
  }

  /** Four bytes with their number, one with the parameter of the code, then the differences. */
  toBytes(): Uint8Array {
    const sorted = this.#settled();
    const low = lowBits(sorted.length);
    const bits = new BitWriter(40 + sorted.length * (low + 1) + (sorted.at(-1) ?? 0) / 2 ** low);
    bits.write(sorted.length, 32);
    bits.write(low, 8);
    let before = 0;
    for (const hash of sorted) {
      const difference = hash - before;
      before = hash;
      bits.unary(Math.floor(difference / 2 ** low));
      bits.write(difference % 2 ** low, low);
    }
    return bits.bytes();
  }

  /** Throws a RangeError when the bytes are no such set. */
  static fromBytes(bytes: Uint8Array): PromptSet {
    const bits = new BitReader(bytes);
    const [count, low] = [bits.read(32), bits.read(8)];
    if (low > 40) throw new RangeError("a prompt set is damaged");
    // Each takes a bit at least: what says that there are more is damaged.
    if (count > 8 * bytes.length) throw new RangeError("a prompt set is cut short");
    const set = new PromptSet();
    const hashes = new Float64Array(count);
    let hash = -1;
    for (let i = 0; i < count; i++) {
      const next = Math.max(hash, 0) + bits.unary() * 2 ** low + bits.read(low);
      if (next === hash || next >= RANGE) throw new RangeError("a prompt set is damaged");
      hashes[i] = hash = next;
    }
    set.#sorted = hashes;
    return set;
  }
}

/** The first 40 bits of the hash of a text that is normalised. */
export function numberOf(normalised: string): number {
  return Number.parseInt(hashOnce("sha256", normalised).slice(0, 10), 16);
}

/** A text is hashed as a whole while it is short, and then as it grows. */
const SHORT = 2048;

/** The normalised beginning of a text, line by line. */
class Beginning {
  #text = "";
  #before = "";
  #hash: Hash | undefined;

  /** Adds a line that is normalised and not empty; false for the first one. */
  extend(line: string): boolean {
    const isFirst = this.#before === "";
    // What normalisedPrompt makes of the line end between two lines.
    const space = WORD_AFTER.test(this.#before) && WORD_BEFORE.test(line) ? " " : "";
    this.#before = line;
    if (this.#hash) this.#hash.update(space + line);
    else this.#text += space + line;
    if (this.#text.length > SHORT) {
      this.#hash = createHash("sha256").update(this.#text);
      this.#text = "";
    }
    return !isFirst;
  }

  number(): number {
    if (!this.#hash) return numberOf(this.#text);
    return Number.parseInt(this.#hash.copy().digest("hex").slice(0, 10), 16);
  }
}

function joined(one: Float64Array, other: Float64Array): Float64Array {
  const both = new Float64Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** Sorts in place; gives each number once. */
function sortedOnce(numbers: Float64Array): Float64Array {
  numbers.sort();
  let count = 0;
  for (const number of numbers) {
    if (count === 0 || number !== numbers[count - 1]) numbers[count++] = number;
  }
  return numbers.slice(0, count);
}

function isIn(sorted: Float64Array, wanted: number): boolean {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] as number) < wanted) from = middle + 1;
    else to = middle;
  }
  return sorted[from] === wanted;
}

/** Bits of a difference that are written as they are: about those of the mean difference. */
function lowBits(count: number): number {
  return count === 0 ? 0 : Math.max(0, Math.floor(Math.log2((RANGE / count) * Math.LN2)));
}

/** Integers of this many bits are computed with as integers. */
const HALF = 20;

class BitWriter {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(mostBits: number) {
    this.#bytes = new Uint8Array(Math.ceil(mostBits / 8) + 1);
  }

  write(value: number, width: number): void {
    if (width > HALF) this.write(Math.floor(value / 2 ** HALF), width - HALF);
    const rest = value % 2 ** HALF;
    for (let i = Math.min(width, HALF) - 1; i >= 0; i--) this.#bit((rest >> i) & 1);
  }

  unary(value: number): void {
    for (let i = 0; i < value; i++) this.#bit(1);
    this.#bit(0);
  }

  bytes(): Uint8Array {
    return this.#bytes.slice(0, Math.ceil(this.#at / 8));
  }

  #bit(bit: number): void {
    if (bit)
      this.#bytes[this.#at >> 3] = (this.#bytes[this.#at >> 3] ?? 0) | (128 >> (this.#at & 7));
    this.#at++;
  }
}

class BitReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  read(width: number): number {
    let value = 0;
    for (let i = 0; i < width; i++) value = value * 2 + this.#bit();
    return value;
  }

  unary(): number {
    let value = 0;
    while (this.#bit() === 1) value++;
    return value;
  }

  #bit(): number {
    const byte = this.#bytes[this.#at >> 3];
    if (byte === undefined) throw new RangeError("a prompt set is cut short");
    return (byte >> (7 - (this.#at++ & 7))) & 1;
  }
}
