/** The length of the longest common subsequence, 32 units of the shorter list at a time. */

export function lcsLength(one: Int32Array, other: Int32Array): number {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  // What both begin and end with is common; it costs nothing.
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  let [shortEnd, longEnd] = [short.length, long.length];
  while (shortEnd > start && short[shortEnd - 1] === long[longEnd - 1]) {
    shortEnd--;
    longEnd--;
  }
  const same = start + short.length - shortEnd;
  return same + middle(short.subarray(start, shortEnd), long.subarray(start, longEnd));
}

/** Bit-parallel, by Hyyrö: a zero bit of `row` is a position where the subsequence grew. */
function middle(short: Int32Array, long: Int32Array): number {
  if (short.length === 0) return 0;
  const size = Math.ceil(short.length / 32);
  const places = placesOf(short, size);
  const row = new Uint32Array(size).fill(0xffffffff);
  for (const unit of long) {
    const matches = places.get(unit);
    if (matches === undefined) continue;
    let carry = 0;
    for (let i = 0; i < size; i++) {
      const before = row[i] as number;
      const met = (before & (matches[i] as number)) >>> 0;
      const sum = before + met + carry;
      carry = sum > 0xffffffff ? 1 : 0;
      row[i] = sum | (before - met);
    }
  }
  let grown = 0;
  for (let i = 0; i < short.length; i++) {
    if ((((row[i >>> 5] as number) >>> (i & 31)) & 1) === 0) grown++;
  }
  return grown;
}

/** By unit, the bits of the positions where it stands. */
function placesOf(units: Int32Array, size: number): Map<number, Uint32Array> {
  const places = new Map<number, Uint32Array>();
  for (let i = 0; i < units.length; i++) {
    const unit = units[i] as number;
    const bits = places.get(unit) ?? new Uint32Array(size);
    places.set(unit, bits);
    bits[i >>> 5] = (bits[i >>> 5] as number) | (1 << (i & 31));
  }
  return places;
}
