/**
 * A compact set of prompts, which travels with the policy that learned from them: 40 bits of the
 * SHA-256 of each normalised prompt, sorted, as differences in a Rice code. Another prompt is taken for
 * one of n with probability n / 2^40. Sets of one kind can be joined, whatever their sizes.
 */

import { createHash, type Hash } from "node:crypto";
import { normalisedPrompt } from "./prompt-fingerprint.ts";

const RANGE = 2 ** 40;
const LINE_END = /\r\n|[\n\r\u2028\u2029]/;
const WORD_AFTER = /[\p{L}\p{N}]$/u;
const WORD_BEFORE = /^[\p{L}\p{N}]/u;

export class PromptSet {
  readonly #hashes: Set<number>;

  constructor(hashes: Iterable<number> = []) {
    this.#hashes = new Set(hashes);
  }

  get size(): number {
    return this.#hashes.size;
  }

  /** The probability that a prompt which was never added is taken for one that was. */
  get falsePositiveRate(): number {
    return this.size / RANGE;
  }

  add(prompt: string): void {
    this.#hashes.add(hashOf(prompt));
  }

  /**
   * Adds a text that may hold prompts: every line, and every beginning that ends with a line. Lines
   * are normalised one by one, so that a long text costs no more than its length.
   */
  addText(text: string): void {
    const beginning = createHash("sha256");
    let before = "";
    for (const line of text.split(LINE_END)) {
      const own = normalisedPrompt(line);
      if (own === "") continue;
      this.#hashes.add(numberOf(createHash("sha256").update(own)));
      // What normalisedPrompt makes of the line end between two lines.
      const space = WORD_AFTER.test(before) && WORD_BEFORE.test(own) ? " " : "";
      beginning.update(space + own);
      if (before !== "") this.#hashes.add(numberOf(beginning.copy()));
      before = own;
    }
  }

  has(prompt: string): boolean {
    return this.#hashes.has(hashOf(prompt));
  }

  joinedWith(other: PromptSet): PromptSet {
    return new PromptSet([...this.#hashes, ...other.#hashes]);
  }

  /** Four bytes with their number, one with the parameter of the code, then the differences. */
  toBytes(): Uint8Array {
    const sorted = Float64Array.from(this.#hashes).sort();
    const low = lowBits(sorted.length);
    const bits = new BitWriter();
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
    const hashes = new Set<number>();
    let hash = 0;
    for (let i = 0; i < count; i++) {
      hash += bits.unary() * 2 ** low + bits.read(low);
      hashes.add(hash);
    }
    if (hashes.size !== count || hash >= RANGE) throw new RangeError("a prompt set is damaged");
    return new PromptSet(hashes);
  }
}

function hashOf(prompt: string): number {
  return numberOf(createHash("sha256").update(normalisedPrompt(prompt)));
}

/** The first 40 bits; the hash is used up. */
function numberOf(hash: Hash): number {
  return hash.digest().readUIntBE(0, 5);
}

/** Bits of a difference that are written as they are: about those of the mean difference. */
function lowBits(count: number): number {
  return count === 0 ? 0 : Math.max(0, Math.floor(Math.log2((RANGE / count) * Math.LN2)));
}

class BitWriter {
  readonly #bytes: number[] = [];
  #open = 0;
  #used = 0;

  write(value: number, width: number): void {
    for (let i = width - 1; i >= 0; i--) this.#bit(Math.floor(value / 2 ** i) % 2);
  }

  unary(value: number): void {
    for (let i = 0; i < value; i++) this.#bit(1);
    this.#bit(0);
  }

  bytes(): Uint8Array {
    while (this.#used !== 0) this.#bit(0);
    return Uint8Array.from(this.#bytes);
  }

  #bit(bit: number): void {
    this.#open = this.#open * 2 + bit;
    if (++this.#used < 8) return;
    this.#bytes.push(this.#open);
    this.#open = 0;
    this.#used = 0;
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
