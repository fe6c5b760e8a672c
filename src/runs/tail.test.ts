import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeEach, expect, test } from "vitest";
import { MAX_LINE_BYTES } from "./jsonl.ts";
import { lastRow, tail } from "./tail.ts";

const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-tail-"));
const file = path.join(dir, "metrics.jsonl");
beforeEach(() => writeFileSync(file, '{"step":1}\n{"step":2}\n{"st'));
afterAll(() => rmSync(dir, { recursive: true }));

test("gives whole lines only, and the rest once it is whole", async () => {
  const first = await tail(dir, "metrics.jsonl", 0);
  expect(first).toEqual({ rows: [{ step: 1 }, { step: 2 }], next: 22, truncated: false });
  expect(await tail(dir, "metrics.jsonl", 22)).toEqual({ rows: [], next: 22, truncated: false });
  appendFileSync(file, 'ep":3}\n');
  const { rows, next } = await tail(dir, "metrics.jsonl", 22);
  expect(rows).toEqual([{ step: 3 }]);
  expect(next).toBe(33);
});

test.each([
  ["shorter", '{"step":9}\n'],
  ["empty", ""],
  ["longer, with other lines", '{"step":9,"loss":1}\n{"step":10}\n'],
])("a stream that became %s is read from its start", async (_, content) => {
  writeFileSync(file, content);
  const { rows, truncated, next } = await tail(dir, "metrics.jsonl", 22);
  expect(truncated).toBe(true);
  expect(rows).toEqual(content.split("\n").flatMap((line) => (line ? [JSON.parse(line)] : [])));
  expect(next).toBe(content.length);
});

test("a stream that is not there has no rows; one that appears later keeps its places", async () => {
  expect(await tail(dir, "none.jsonl", 0)).toEqual({ rows: [], next: 0, truncated: false });
  expect((await tail(dir, "none.jsonl", 5)).truncated).toBe(true);
  writeFileSync(path.join(dir, "late.jsonl.partial"), '{"a":1}\n');
  const { next } = await tail(dir, "late.jsonl", 0);
  appendFileSync(path.join(dir, "late.jsonl.partial"), '{"a":2}\n');
  renameSync(path.join(dir, "late.jsonl.partial"), path.join(dir, "late.jsonl"));
  expect((await tail(dir, "late.jsonl", next)).rows).toEqual([{ a: 2 }]);
});

test("a line longer than what is read at a time comes whole", async () => {
  const text = "x".repeat(3_000_000);
  writeFileSync(file, `${JSON.stringify({ text })}\n{"step":2}\n`);
  expect((await tail(dir, "metrics.jsonl", 0)).rows[0]).toEqual({ text });
});

test("a damaged line and a name that is a path are refused", async () => {
  writeFileSync(file, '{"step":1}\n{oops}\n');
  await expect(tail(dir, "metrics.jsonl", 0)).rejects.toMatchObject({ kind: "data" });
  await expect(tail(dir, "../metrics.jsonl", 0)).rejects.toMatchObject({ kind: "usage" });
  await expect(tail(dir, "metrics.jsonl", -1)).rejects.toMatchObject({ kind: "usage" });
});

/** Writes rows in pieces that end anywhere, as a process does that is read meanwhile. */
const WRITER = `
const { appendFileSync } = require("node:fs");
const { workerData: { file, rows } } = require("node:worker_threads");
let text = "";
for (let i = 0; i < rows; i++) text += JSON.stringify({ i, pad: "é".repeat(i % 37) }) + "\\n";
const bytes = Buffer.from(text);
for (let at = 0; at < bytes.length; at += 97) appendFileSync(file, bytes.subarray(at, at + 97));
`;

test("under a concurrent writer every row comes once and in order", async () => {
  const rows = 5000;
  writeFileSync(file, "");
  const worker = new Worker(WRITER, { eval: true, workerData: { file, rows } });
  let done = false;
  worker.once("exit", () => {
    done = true;
  });
  const seen: unknown[] = [];
  for (let from = 0, last = false; !last; ) {
    last = done;
    const { rows: more, next, truncated } = await tail(dir, "metrics.jsonl", from);
    expect(truncated).toBe(false);
    seen.push(...more.map(({ i }) => i));
    from = next;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(seen).toEqual(Array.from({ length: rows }, (_, i) => i));
});

test("a line of 16 MiB is read, a longer one is not", async () => {
  const line = (bytes: number) => `{"a":"${"x".repeat(bytes - 8)}"}`;
  writeFileSync(file, `${line(MAX_LINE_BYTES)}\n`);
  expect((await tail(dir, "metrics.jsonl", 0)).rows).toHaveLength(1);
  expect(await lastRow(dir, "metrics.jsonl")).toBeDefined();
  for (const bytes of [MAX_LINE_BYTES + 1, 17 * 1024 * 1024]) {
    writeFileSync(file, `${line(bytes)}\n`);
    await expect(tail(dir, "metrics.jsonl", 0)).rejects.toThrow(/longer than 16 MiB/);
    expect(await lastRow(dir, "metrics.jsonl")).toBeUndefined();
  }
});
