/**
 * 64 bits of a JSON value, the same for any order of an object's keys. Much faster than a hash of
 * canonical JSON, and good enough to find equal rows, not to prove who wrote them.
 */

export interface ContentHash {
  readonly high: number;
  readonly low: number;
}

const HIGH = 0x9747b28c | 0;
const LOW = 0x3c6ef372 | 0;

/** Kinds of values, so that 1 and "1" differ. */
const [NULL, TRUE, FALSE, NUMBER, TEXT, LIST, OBJECT] = [1, 2, 3, 4, 5, 6, 7];

/** The two lanes of the value at work. */
let high = HIGH;
let low = LOW;

export function contentHash(value: unknown): ContentHash {
  high = HIGH;
  low = LOW;
  add(value);
  return settled();
}

/** The same of an object without some of its fields. */
export function hashWithout(
  fields: Readonly<Record<string, unknown>>,
  left: ReadonlySet<string>,
): ContentHash {
  high = HIGH;
  low = LOW;
  addFields(fields, left);
  return settled();
}

/** The same of a part of a list. */
export function hashOfPart(list: readonly unknown[], from: number, to: number): ContentHash {
  high = HIGH;
  low = LOW;
  for (let i = from; i < to; i++) add(list[i]);
  return settled();
}

export function joined(one: ContentHash, other: ContentHash): ContentHash {
  high = one.high;
  low = one.low;
  word(other.high);
  word(other.low);
  return settled();
}

/** Of two in any order. */
export function joinedEitherWay(one: ContentHash, other: ContentHash): ContentHash {
  return { high: (one.high + other.high) >>> 0, low: (one.low + other.low) >>> 0 };
}

function settled(): ContentHash {
  high = Math.imul(high ^ (high >>> 16) ^ low, 0x85ebca6b);
  low = Math.imul(low ^ (low >>> 16), 0xc2b2ae35);
  return { high: (high ^ (high >>> 13)) >>> 0, low: (low ^ (low >>> 16)) >>> 0 };
}

function word(value: number): void {
  high = Math.imul(high ^ value, 0x5bd1e995);
  high ^= high >>> 15;
  low = Math.imul(low ^ value, 0xcc9e2d51);
  low ^= low >>> 13;
}

function add(value: unknown): void {
  if (typeof value === "string") text(value);
  else if (typeof value === "number") number(value);
  else if (value === null || value === undefined) word(NULL);
  else if (typeof value === "boolean") word(value ? TRUE : FALSE);
  else if (Array.isArray(value)) {
    word(LIST);
    word(value.length);
    for (const item of value) add(item);
  } else addFields(value as Record<string, unknown>, NOTHING);
}

const NOTHING: ReadonlySet<string> = new Set();

/** Each field by itself, and their sum: the order of the keys does not matter. */
function addFields(fields: Readonly<Record<string, unknown>>, left: ReadonlySet<string>): void {
  const [before, beforeLow] = [high, low];
  let [sum, sumLow] = [0, 0];
  for (const name in fields) {
    if (left.has(name)) continue;
    high = HIGH;
    low = LOW;
    text(name);
    add(fields[name]);
    sum = (sum + high) | 0;
    sumLow = (sumLow + low) | 0;
  }
  high = before;
  low = beforeLow;
  word(OBJECT);
  word(sum);
  word(sumLow);
}

const DOUBLE = new Float64Array(1);
const WORDS = new Int32Array(DOUBLE.buffer);

function number(value: number): void {
  DOUBLE[0] = value + 0; // -0 counts as 0.
  word(NUMBER);
  word(WORDS[0] as number);
  word(WORDS[1] as number);
}

/** Two characters at a time. */
function text(value: string): void {
  const { length } = value;
  word(TEXT);
  word(length);
  let i = 0;
  for (; i + 1 < length; i += 2) word(value.charCodeAt(i) | (value.charCodeAt(i + 1) << 16));
  if (i < length) word(value.charCodeAt(i));
}
