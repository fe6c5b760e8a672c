/**
 * Byte-pair encoding over a published vocabulary. A pattern cuts the text into pieces; inside a
 * piece the adjacent pair of lowest rank is joined, the leftmost first, until no pair is a token.
 * Sennrich et al. 2016, with ranks as in OpenAI's tiktoken.
 *
 * Pairs are kept in a heap, so a piece of n bytes costs n log n. Scanning for the next pair costs n²,
 * and one word of a few hundred thousand letters then takes minutes.
 *
 * Bytes are kept as strings of one character per byte: JavaScript can look those up in a Map.
 */

import type { Tokenizer } from "./tokenizer.ts";

export interface Vocabulary {
  readonly name: string;
  /** The bytes of each token, one character per byte, with its rank, which is its id. */
  readonly ranks: ReadonlyMap<string, number>;
  /** Global and Unicode; every character of every text belongs to a match. */
  readonly pattern: RegExp;
}

export function bytePairTokenizer({ name, ranks, pattern }: Vocabulary): Tokenizer {
  const tokens: string[] = [];
  for (const [token, id] of ranks) tokens[id] = token;
  const merge = pairMerger(ranks);

  function tokenOf(id: number): string {
    const token = tokens[id];
    if (token === undefined) throw new RangeError(`${name} has no token ${id}`);
    return token;
  }

  return {
    name,
    encode(text) {
      const ids: number[] = [];
      for (const [piece] of text.matchAll(pattern)) {
        const bytes = ASCII.test(piece) ? piece : Buffer.from(piece).toString("latin1");
        const id = ranks.get(bytes);
        if (id === undefined) merge(bytes, ids);
        else ids.push(id);
      }
      return ids;
    },
    decode(ids) {
      const parts: Buffer[] = [];
      for (const id of ids) parts.push(Buffer.from(tokenOf(id), "latin1"));
      return Buffer.concat(parts).toString();
    },
    bytesOf: (id) => new Uint8Array(Buffer.from(tokenOf(id), "latin1")),
  };
}

const ASCII = /^[\0-\x7f]*$/;
const NONE = -1;
/** Beyond the end of any token. */
const BEYOND = 2 ** 31 - 1;
/** Orders the heap by rank, then by place. Both fit into a double: 2^21 ranks, 2^32 places. */
const PLACES = 2 ** 32;

/** Appends the tokens of one piece to `ids`. The arrays are reused between calls. */
function pairMerger(ranks: ReadonlyMap<string, number>): (bytes: string, ids: number[]) => void {
  let longest = 0;
  for (const token of ranks.keys()) longest = Math.max(longest, token.length);
  const heap = new MinHeap();
  /** Of the part that starts at a place: where the next part starts, and the one before. */
  let after = new Int32Array(0);
  let before = new Int32Array(0);
  /** The rank of that part and the next as one token, or NONE. */
  let joined = new Int32Array(0);

  return (bytes, ids) => {
    const length = bytes.length;
    if (after.length <= length)
      [after, before, joined] = [room(length), room(length), room(length)];

    function rank(start: number): void {
      const end = at(after, at(after, start));
      const found = end - start <= longest ? ranks.get(bytes.slice(start, end)) : undefined;
      joined[start] = found ?? NONE;
      if (found !== undefined) heap.push(found * PLACES + start);
    }

    for (let place = 0; place < length; place++) {
      before[place] = place - 1;
      after[place] = place + 1;
    }
    after[length] = BEYOND;
    for (let place = 0; place < length; place++) rank(place);
    for (let least = heap.pop(); least !== undefined; least = heap.pop()) {
      const start = least % PLACES;
      // One part of the pair has been joined with another since.
      if (joined[start] !== (least - start) / PLACES) continue;
      const gone = at(after, start);
      const next = at(after, gone);
      joined[gone] = NONE;
      after[start] = next;
      before[next] = start;
      rank(start);
      if (start > 0) rank(at(before, start));
    }
    for (let start = 0; start < length; start = at(after, start)) {
      const token = bytes.slice(start, after[start]);
      const id = ranks.get(token);
      if (id === undefined) throw new Error(`no token for byte ${token.charCodeAt(0)}`);
      ids.push(id);
    }
  };
}

const room = (length: number) => new Int32Array(2 * length + 2);

/** An element at an index within the array. */
const at = (array: Int32Array | Float64Array, index: number) => array[index] as number;

/** A binary heap of numbers, the least on top. */
class MinHeap {
  #items = new Float64Array(64);
  #size = 0;

  push(item: number): void {
    if (this.#size === this.#items.length) {
      const larger = new Float64Array(2 * this.#size);
      larger.set(this.#items);
      this.#items = larger;
    }
    const items = this.#items;
    let hole = this.#size++;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      const above = at(items, parent);
      if (above <= item) break;
      items[hole] = above;
      hole = parent;
    }
    items[hole] = item;
  }

  pop(): number | undefined {
    if (this.#size === 0) return undefined;
    const items = this.#items;
    const least = at(items, 0);
    const item = at(items, --this.#size);
    let hole = 0;
    for (let child = 1; child < this.#size; child = 2 * hole + 1) {
      if (child + 1 < this.#size && at(items, child + 1) < at(items, child)) child++;
      const below = at(items, child);
      if (below >= item) break;
      items[hole] = below;
      hole = child;
    }
    items[hole] = item;
    return least;
  }
}
