import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toCompletion, toExample } from "../core/records.ts";
import { rngAt, shuffled } from "../core/rng.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import { joinById, type Unknown } from "./join.ts";
import { inOrder } from "./scoring-run.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-join-"));
let files = 0;
const file = (rows: object[]): string => {
  const name = path.join(root, `${files++}.jsonl`);
  writeFileSync(name, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return name;
};

async function join(exampleIds: string[], answerIds: string[]) {
  const examples = new JsonlFile(file(exampleIds.map((id) => ({ id, prompt: "" }))), toExample);
  const answers = new JsonlFile(
    file(answerIds.map((id) => ({ id, completion: id }))),
    toCompletion,
  );
  const unknown: Unknown = { count: 0, first_ids: [] };
  const pairs: [string, string | undefined][] = [];
  for await (const batch of joinById(examples, answers, unknown)) {
    for (const { example, answer } of batch) pairs.push([example.id, answer?.completion]);
  }
  return { pairs, unknown };
}

const ids = Array.from({ length: 500 }, (_, i) => `id-${i}`);

test("any order of answers gives the same pairs, in data-set order", async () => {
  const expected = ids.map((id) => [id, id]);
  for (const answers of [ids, ids.toReversed(), shuffled(ids, rngAt(1))]) {
    expect((await join(ids, answers)).pairs).toEqual(expected);
  }
});

test("missing and unknown answers are told apart and counted", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.nat(30), { minLength: 1 }),
      fc.uniqueArray(fc.nat(30), { minLength: 1 }),
      async (a, b) => {
        const { pairs, unknown } = await join(a.map(String), b.map(String));
        expect(pairs).toEqual(a.map((id) => [String(id), b.includes(id) ? String(id) : undefined]));
        expect(unknown.count).toBe(b.filter((id) => !a.includes(id)).length);
      },
    ),
    { numRuns: 50 },
  );
});

describe("duplicates are refused by name", () => {
  test.each([
    [["a", "b", "a"], ["a", "b"], '"a"'],
    [["a", "b"], ["a", "b", "a"], '"a"'],
    [["a", "b"], ["b", "b", "a"], '"b"'],
    [["a", "b"], ["a", "b", "x", "x"], '"x"'],
  ])("examples %j, answers %j", async (examples, answers, id) => {
    await expect(join(examples, answers)).rejects.toThrow(`the id ${id} appears more than once`);
  });
});

describe("inOrder", () => {
  async function* numbers(n: number) {
    for (let i = 0; i < n; i++) yield i;
  }

  test("keeps order and depth", async () => {
    let flying = 0;
    let most = 0;
    const seen: number[] = [];
    const work = async (i: number) => {
      most = Math.max(most, ++flying);
      await new Promise((resolve) => setTimeout(resolve, (7 * i) % 5));
      flying--;
      return i;
    };
    for await (const i of inOrder(numbers(20), 3, work)) seen.push(i);
    expect(seen).toEqual([...Array(20).keys()]);
    expect(most).toBeLessThanOrEqual(4);
    expect(most).toBeGreaterThan(1);
  });

  test("a failure surfaces once, at its place", async () => {
    const seen: number[] = [];
    const work = async (i: number) => {
      if (i === 2) throw new Error("two");
      return i;
    };
    await expect(async () => {
      for await (const i of inOrder(numbers(9), 3, work)) seen.push(i);
    }).rejects.toThrow("two");
    expect(seen).toEqual([0, 1]);
  });
});
