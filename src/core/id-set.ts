/** Which ids were met, at 16 bytes each: it keeps hashes, and two ids may share one. */

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
