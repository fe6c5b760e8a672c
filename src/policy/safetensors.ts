/**
 * The safetensors format: a JSON header, then the bytes of every tensor without a gap. Tensors are
 * read from the file straight to where they belong, so that a large model is held once.
 */

import { createHash } from "node:crypto";
import { dataError } from "../core/errors.ts";
import { isFields } from "../core/records.ts";
import { visibleShort } from "../core/visible.ts";
import type { Placed } from "../graph/parameters.ts";
import { type Shape, showShape, sizeOf } from "../graph/shape.ts";
import { BinaryFile } from "../runs/binary-file.ts";

export interface StoredTensor {
  readonly dtype: string;
  readonly shape: Shape;
  readonly data: Float32Array;
}

export interface StoredEntry {
  readonly name: string;
  readonly dtype: string;
  readonly shape: Shape;
  /** Place of its bytes in the file. */
  readonly from: number;
  readonly to: number;
}

/** Bytes of the largest header that is accepted. */
const MOST_HEADER = 100 * 1024 * 1024;
/** Bytes read at a time; a multiple of every type's size. */
const CHUNK = 4 * 1024 * 1024;
const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** An open file whose header has been checked: the tensors fill it without a gap. */
export class SafetensorsFile {
  readonly file: string;
  readonly size: number;
  /** In the order of their bytes. */
  readonly entries: readonly StoredEntry[];
  readonly #bytes: BinaryFile;
  readonly #start: number;

  private constructor(bytes: BinaryFile, header: Header) {
    this.file = bytes.path;
    this.size = bytes.size;
    this.entries = header.entries;
    this.#bytes = bytes;
    this.#start = header.start;
  }

  static async open(file: string): Promise<SafetensorsFile> {
    const bytes = await BinaryFile.open(file);
    try {
      return new SafetensorsFile(bytes, await readHeader(bytes));
    } catch (error) {
      await bytes.close();
      throw error;
    }
  }

  /** Reads every tensor as float32 into the array of `targetOf`; returns the file's SHA-256. */
  async read(targetOf: (entry: StoredEntry) => Float32Array): Promise<string> {
    const hash = createHash("sha256");
    for (let at = 0; at < this.#start; at += CHUNK) {
      const header = Buffer.alloc(Math.min(CHUNK, this.#start - at));
      hash.update(await readFully(this.#bytes, header, at));
    }
    for (const entry of this.entries) {
      const target = targetOf(entry);
      const { bytes, widen } = TYPES[entry.dtype] as NumberType;
      // Float32 is read straight into the target.
      const spare = widen && Buffer.alloc(Math.min(CHUNK, entry.to - entry.from));
      for (let at = entry.from; at < entry.to; at += CHUNK) {
        const length = Math.min(CHUNK, entry.to - at);
        const first = (at - entry.from) / bytes;
        const part = target.subarray(first, first + length / bytes);
        const into = spare ? spare.subarray(0, length) : asBytes(part);
        hash.update(await readFully(this.#bytes, into, at));
        if (!LITTLE_ENDIAN) bytes === 4 ? into.swap32() : into.swap16();
        widen?.(new Uint16Array(into.buffer, into.byteOffset, length / 2), part);
      }
    }
    return hash.digest("hex");
  }

  async close(): Promise<void> {
    await this.#bytes.close();
  }
}

async function readFully(file: BinaryFile, into: Buffer, at: number): Promise<Buffer> {
  const done = await file.read(into, at);
  if (done === into.length) return into;
  throw damaged(file.path, `it ends at byte ${at + done}, in the middle`);
}

/** Every tensor of a file, by name. */
export async function readSafetensors(file: string): Promise<Map<string, StoredTensor>> {
  return (await readTensors(file)).tensors;
}

/** The same, with the SHA-256 of the file. */
export async function readTensors(file: string) {
  const stored = await SafetensorsFile.open(file);
  const tensors = new Map<string, StoredTensor>();
  try {
    const sha256 = await stored.read(({ name, dtype, shape }) => {
      const data = new Float32Array(sizeOf(shape));
      tensors.set(name, { dtype, shape, data });
      return data;
    });
    return { tensors, sha256 };
  } finally {
    await stored.close();
  }
}

interface Header {
  readonly entries: readonly StoredEntry[];
  readonly start: number;
}

async function readHeader(stored: BinaryFile): Promise<Header> {
  const { path: file, size } = stored;
  if (size < 8) throw damaged(file, "it is shorter than its header");
  const prefix = await readFully(stored, Buffer.alloc(8), 0);
  const length = prefix.readBigUInt64LE(0);
  if (length > BigInt(Math.min(MOST_HEADER, size - 8))) {
    throw damaged(file, `its header claims ${length} bytes of ${size - 8}`);
  }
  const text = await readFully(stored, Buffer.alloc(Number(length)), 8);
  const start = 8 + text.length;
  return { entries: checkedEntries(file, parsed(file, text.toString("utf8")), start, size), start };
}

function parsed(file: string, text: string): Record<string, unknown> {
  try {
    const header: unknown = JSON.parse(text);
    if (isFields(header)) return header;
  } catch {
    // The same error as for a header that is a list.
  }
  throw damaged(file, "its header is no JSON object");
}

function checkedEntries(
  file: string,
  header: Record<string, unknown>,
  start: number,
  size: number,
): StoredEntry[] {
  const entries = Object.entries(header)
    .filter(([name]) => name !== "__metadata__")
    .map(([name, stored]) => checkedEntry(file, name, stored, start))
    .sort((a, b) => a.from - b.from || a.to - b.to);
  let end = start;
  for (const { name, from, to } of entries) {
    if (from !== end)
      throw damaged(file, `${visibleShort(name, 60)} does not begin at byte ${end}`);
    end = to;
  }
  if (end > size) throw damaged(file, `it has ${size} bytes of ${end}`);
  if (end < size) throw damaged(file, `${size - end} bytes follow the last tensor`);
  return entries;
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

function checkedEntry(file: string, name: string, stored: unknown, start: number): StoredEntry {
  const { dtype, shape, data_offsets: offsets } = (stored ?? {}) as Record<string, unknown>;
  const shown = visibleShort(name, 60);
  if (typeof dtype !== "string" || !Array.isArray(shape) || !shape.every(isCount)) {
    throw damaged(file, `the header's entry for ${shown} has no type or shape`);
  }
  const type = Object.hasOwn(TYPES, dtype) ? TYPES[dtype] : undefined;
  if (!type) {
    throw dataError(
      `${file}: ${shown} has the type ${visibleShort(dtype, 20)}, which is not read`,
      "F32, F16 and BF16 are. Save the weights in one of these; quantised ones cannot be trained.",
    );
  }
  const [from, to] = Array.isArray(offsets) ? offsets : [];
  if (!isCount(from) || !isCount(to) || to - from !== sizeOf(shape) * type.bytes) {
    throw damaged(file, `${shown} has ${to - from} bytes for the shape ${showShape(shape)}`);
  }
  return { name, dtype, shape, from: start + from, to: start + to };
}

function damaged(file: string, problem: string): Error {
  return dataError(`${file} is no sound safetensors file: ${problem}`, "Fetch or write it again.");
}

interface NumberType {
  readonly bytes: number;
  /** Absent for float32. */
  widen?(from: Uint16Array, to: Float32Array): void;
}

const TYPES: Record<string, NumberType> = {
  F32: { bytes: 4 },
  F16: {
    bytes: 2,
    widen: (from, to) => {
      const table = halves();
      for (let i = 0; i < from.length; i++) to[i] = table[from[i] as number] as number;
    },
  },
  BF16: {
    bytes: 2,
    widen: (from, to) => {
      const bits = new Uint32Array(to.buffer, to.byteOffset, to.length);
      for (let i = 0; i < from.length; i++) bits[i] = (from[i] as number) << 16;
    },
  },
};

let table: Float32Array | undefined;

/** The value of each of the 65536 halves. */
function halves(): Float32Array {
  table ??= Float32Array.from({ length: 65_536 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
  return table;
}

export interface TensorToStore {
  readonly name: string;
  readonly shape: Shape;
  readonly data: Float32Array;
}

/**
 * The bytes of a file, in parts. Names are sorted and the first tensor is aligned to 8 bytes, so that
 * equal content gives equal bytes.
 */
export function* safetensorsBytes(tensors: Iterable<TensorToStore>): Generator<Uint8Array> {
  const sorted = [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1));
  let end = 0;
  const entries = sorted.map(({ name, shape, data }) => {
    const from = end;
    end += data.byteLength;
    return [name, { dtype: "F32", shape, data_offsets: [from, end] }] as const;
  });
  const text = JSON.stringify(Object.fromEntries(entries));
  const header = Buffer.from(text.padEnd(text.length + (-Buffer.byteLength(text) & 7), " "));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(header.length));
  yield prefix;
  yield header;
  for (const { data } of sorted)
    yield LITTLE_ENDIAN ? asBytes(data) : Buffer.from(asBytes(data)).swap32();
}

/** The parameters of a vector as the bytes of a file, with their SHA-256. */
export function storedVector(
  vector: Float32Array,
  placed: readonly Placed[],
  nameOf = (name: string) => name,
) {
  const tensors = placed.map(({ name, shape, offset, size }) => ({
    ...{ name: nameOf(name), shape },
    data: vector.subarray(offset, offset + size),
  }));
  const hash = createHash("sha256");
  for (const part of safetensorsBytes(tensors)) hash.update(part);
  return { bytes: safetensorsBytes(tensors), sha256: hash.digest("hex") };
}

function asBytes(data: Float32Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

/** The SHA-256 of numbers as they are stored. */
export function hashOfWeights(data: Float32Array): string {
  const hash = createHash("sha256");
  // In parts, because one update takes at most 2 GiB.
  for (let at = 0; at < data.length; at += CHUNK) {
    const bytes = asBytes(data.subarray(at, at + CHUNK));
    hash.update(LITTLE_ENDIAN ? bytes : Buffer.from(bytes).swap32());
  }
  return hash.digest("hex");
}
