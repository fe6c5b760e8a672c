/** The few parts of the protobuf wire format that an ONNX file needs. */

export type Field = readonly [number: number, value: Value];
type Value = bigint | number | string | Uint8Array | { readonly float: number };

const VARINT = 0;
const BYTES = 2;
const FIXED32 = 5;

/** A message from its fields, in the order given. */
export function message(fields: Iterable<Field>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (typeof value === "bigint" || typeof value === "number") {
      parts.push(varint(BigInt((number << 3) | VARINT)), varint(BigInt(value)));
    } else if (typeof value === "string" || value instanceof Uint8Array) {
      const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
      parts.push(varint(BigInt((number << 3) | BYTES)), varint(BigInt(bytes.length)), bytes);
    } else {
      const bytes = Buffer.alloc(4);
      bytes.writeFloatLE(value.float);
      parts.push(varint(BigInt((number << 3) | FIXED32)), bytes);
    }
  }
  return Buffer.concat(parts);
}

/** Negative numbers take ten bytes, as two's complement in 64 bits. */
function varint(value: bigint): Uint8Array {
  let rest = BigInt.asUintN(64, value);
  const bytes: number[] = [];
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest !== 0n);
  return Uint8Array.from(bytes);
}
