import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { sha256 } from "../core/fingerprint.ts";
import {
  hashOfWeights,
  readSafetensors,
  SafetensorsFile,
  safetensorsBytes,
} from "./safetensors.ts";

const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-safetensors-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const file = path.join(dir, "t.safetensors");

const tensors = [
  { name: "b", shape: [2, 2], data: Float32Array.of(1, -0, 1e-45, 3.5) },
  { name: "a", shape: [], data: Float32Array.of(7) },
  { name: "é", shape: [0, 3], data: new Float32Array() },
];
const whole = Buffer.concat([...safetensorsBytes(tensors)]);

function write(header: unknown, data: Uint8Array = new Uint8Array(), claim?: bigint): void {
  const text = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(claim ?? BigInt(text.length));
  writeFileSync(file, Buffer.concat([length, text, data]));
}

test("what is written is read, bit by bit", async () => {
  writeFileSync(file, whole);
  const found = await readSafetensors(file);
  expect([...found.keys()].sort()).toEqual(["a", "b", "é"]);
  for (const { name, shape, data } of tensors) {
    expect(found.get(name)).toEqual({ dtype: "F32", shape, data });
  }
});

test("names are sorted, data is aligned, and the order of writing does not matter", () => {
  const length = Number(whole.readBigUInt64LE(0));
  expect((8 + length) % 8).toBe(0);
  expect(Object.keys(JSON.parse(whole.toString("utf8", 8, 8 + length)))).toEqual(["a", "b", "é"]);
  expect(Buffer.concat([...safetensorsBytes(tensors.toReversed())]).equals(whole)).toBe(true);
});

test("reading answers the hash of the file; numbers have a hash of their own", async () => {
  writeFileSync(file, whole);
  const opened = await SafetensorsFile.open(file);
  expect(await opened.read(({ shape }) => new Float32Array(shape.reduce((n, m) => n * m, 1)))).toBe(
    sha256(whole),
  );
  await opened.close();
  expect(hashOfWeights(Float32Array.of(1))).toBe(sha256(Buffer.from("0000803f", "hex")));
});

test("every half is the number that it stands for", async () => {
  const bits = Uint16Array.from({ length: 65_536 }, (_, i) => i);
  write(
    { h: { dtype: "F16", shape: [65_536], data_offsets: [0, 131_072] } },
    new Uint8Array(bits.buffer),
  );
  const { data } = (await readSafetensors(file)).get("h") ?? { data: new Float32Array() };
  const at = (i: number) => data[i];
  expect([at(0x3c00), at(0xc000), at(0x7bff), at(0x0400), at(0x0001), at(0x03ff)]).toEqual([
    1,
    -2,
    65_504,
    2 ** -14,
    2 ** -24,
    1023 * 2 ** -24,
  ]);
  expect([at(0x7c00), at(0xfc00), at(0x7e00)]).toEqual([Infinity, -Infinity, NaN]);
  expect(Object.is(at(0x8000), -0)).toBe(true);
});

test("bfloat16 is the upper half of a float32", async () => {
  write(
    { h: { dtype: "BF16", shape: [3], data_offsets: [0, 6] } },
    Uint8Array.of(0x80, 0x3f, 0x49, 0xc0, 0x01, 0x00),
  );
  expect((await readSafetensors(file)).get("h")?.data).toEqual(
    Float32Array.of(1, -3.140625, 2 ** -133),
  );
});

const entry = (dtype: string, shape: unknown, offsets: unknown) => ({
  x: { dtype, shape, data_offsets: offsets },
});

test.each<[problem: string, make: () => void]>([
  ["shorter than its header", () => writeFileSync(file, "abc")],
  ["its header claims 99 bytes of 2", () => write("{}", undefined, 99n)],
  ["its header claims 18446744073709551615", () => write("{}", undefined, 2n ** 64n - 1n)],
  ["its header is no JSON object", () => write("{nonsense")],
  ["its header is no JSON object", () => write([])],
  ["has no type or shape", () => write({ x: null })],
  ["has no type or shape", () => write(entry("F32", [-1], [0, 4]), new Uint8Array(4))],
  ["x has 4 bytes for the shape [2]", () => write(entry("F32", [2], [0, 4]), new Uint8Array(4))],
  ["x has -4 bytes", () => write(entry("F32", [1], [4, 0]), new Uint8Array(4))],
  ["bytes for the shape [1]", () => write(entry("F32", [1], "all"), new Uint8Array(4))],
  ["it has", () => write(entry("F32", [2], [0, 8]), new Uint8Array(7))],
  ["1 bytes follow the last tensor", () => write(entry("F32", [1], [0, 4]), new Uint8Array(5))],
  ["x does not begin at byte", () => write(entry("F32", [1], [4, 8]), new Uint8Array(8))],
  [
    "x has the type I8, which is not read",
    () => write(entry("I8", [1], [0, 1]), new Uint8Array(1)),
  ],
  ["x has the type toString", () => write(entry("toString", [1], [0, 1]), new Uint8Array(1))],
])("refused: %s", async (problem, make) => {
  make();
  await expect(readSafetensors(file)).rejects.toThrow(problem);
  await expect(readSafetensors(file)).rejects.toThrow(file);
});

test("two tensors over the same bytes are refused", async () => {
  const offsets = { dtype: "F32", shape: [1], data_offsets: [0, 4] };
  write({ x: offsets, y: offsets }, new Uint8Array(4));
  await expect(readSafetensors(file)).rejects.toThrow("y does not begin at byte");
});

test("a file that is not there is named", async () => {
  await expect(readSafetensors(path.join(dir, "none"))).rejects.toMatchObject({ kind: "data" });
});
