/** The limit of a line holds to the byte, wherever the line stands and whoever reads it. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { JsonlFile, MAX_LINE_BYTES } from "./jsonl.ts";
import { ANSWERS, Journal } from "./rollout-journal.ts";
import { RunFolder } from "./run-folder.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-lines-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let dir = "";
let count = 0;
beforeEach(() => {
  if (dir !== "") rmSync(dir, { recursive: true, force: true }); // The files are large.
  dir = path.join(root, String(count++));
  mkdirSync(dir);
});

const MIB = 1024 * 1024;

/** A line of exactly so many bytes, without its end. */
function line(bytes: number, character = "x"): string {
  const around = Buffer.byteLength('{"id":""}');
  const wide = Buffer.byteLength(character);
  const room = bytes - around;
  return `{"id":"${"y".repeat(room % wide)}${character.repeat(Math.floor(room / wide))}"}`;
}

function write(...lines: readonly string[]): string {
  const file = path.join(dir, "rows.jsonl");
  writeFileSync(file, lines.join("\n"));
  return file;
}

async function lengths(file: string, upTo?: number): Promise<number[]> {
  const found: number[] = [];
  const rows = new JsonlFile(file, ({ id }) => Buffer.byteLength(String(id)), { upTo });
  for await (const batch of rows.batches()) found.push(...batch);
  return found;
}

const SMALL = '{"id":"a"}';

describe("a line of", () => {
  test.each([
    ["16 MiB", MAX_LINE_BYTES, "x"],
    ["16 MiB of wide characters", MAX_LINE_BYTES, "€"],
  ])("%s is read, alone or between others", async (_, bytes, character) => {
    const long = line(bytes, character);
    expect(Buffer.byteLength(long)).toBe(bytes);
    expect(await lengths(write(long))).toEqual([bytes - 9]);
    expect(await lengths(write(SMALL, long, SMALL, ""))).toEqual([1, bytes - 9, 1]);
  });

  test.each([
    ["a byte more", MAX_LINE_BYTES + 1, "x"],
    ["a byte more, of wide characters", MAX_LINE_BYTES + 1, "€"],
    ["17 MiB", 17 * MIB, "x"],
    ["33 MiB", 33 * MIB, "x"],
  ])("%s is refused by its number, with and without an end", async (_, bytes, character) => {
    const long = line(bytes, character);
    expect(Buffer.byteLength(long)).toBe(bytes);
    const refusal = { kind: "data", message: expect.stringMatching(/rows\.jsonl:\d: the line is/) };
    await expect(lengths(write(long))).rejects.toMatchObject(refusal);
    await expect(lengths(write(SMALL, long, SMALL, ""))).rejects.toThrow(
      /rows\.jsonl:2: the line is longer than 16 MiB/,
    );
    // After a long one, whose buffer has room for the next.
    const first = line(MAX_LINE_BYTES);
    await expect(lengths(write(first, long, ""))).rejects.toThrow(/rows\.jsonl:2: the line is/);
  });
});

test("with a number of bytes to read, nothing behind them is looked at", async () => {
  const file = write(SMALL, SMALL, '{"id":');
  expect(await lengths(file, 2 * (SMALL.length + 1))).toEqual([1, 1]);
  await expect(lengths(file)).rejects.toThrow(/rows\.jsonl:3: not valid JSON/);
});

describe("the journal of a rollout", () => {
  const identity = { dataset_sha256: "d", n: 1, policy: {}, prompt: {}, sampling: {} };
  const answer = (bytes: number) => {
    const row = (completion: string) => ({
      ...{ id: "e0", sample: 0 },
      answer: { completion, finish: "stop", prompt_tokens: 1, completion_tokens: 1 },
    });
    return row("x".repeat(bytes - JSON.stringify(row("")).length));
  };

  async function resumed(bytes: number): Promise<number> {
    const folder = await RunFolder.open(path.join(dir, "r"), "rollout", { resume: true });
    try {
      const journal = await Journal.open(folder, identity, false, ANSWERS);
      await journal.add(answer(bytes));
      await journal.close();
      const again = await Journal.open(folder, identity, true, ANSWERS);
      await again.close();
      return again.kept;
    } finally {
      await folder.leave();
    }
  }

  test("has the same limit", async () => {
    expect(await resumed(MAX_LINE_BYTES)).toBe(1);
    await expect(resumed(17 * MIB)).rejects.toThrow(/journal\.jsonl:2: the line is longer than/);
  });
});
