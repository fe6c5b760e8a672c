import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { RUN_KINDS, writeFolder } from "../../tests/fixtures/run-folders.ts";
import { sha256 } from "../core/fingerprint.ts";
import { describeKind, type RunKind } from "./kinds.ts";
import type { FolderOptions } from "./run-folder.ts";
import { RunFolder } from "./run-folder.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-folder-"));
afterAll(() => rmSync(root, { recursive: true }));
let count = 0;
const fresh = () => path.join(root, String(count++));

const scored = (kind: RunKind) => describeKind(kind).manifest === describeKind("eval").manifest;
const alike = (a: RunKind, b: RunKind) => a === b || (scored(a) && scored(b));
const FLAGS: readonly FolderOptions[] = [{}, { force: true }, { resume: true }];

/** What may be written over: the policy in one table. */
function allowed(
  kind: RunKind,
  found: RunKind,
  left: "finished" | "killed" | "left",
  { force = false, resume = false }: FolderOptions,
): boolean {
  const { resumesFrom, resumesFinished = false } = describeKind(kind);
  if (!alike(kind, found)) return false;
  if (left === "finished") return force || (resume && resumesFinished);
  if (resumesFrom) return force || resume;
  return left === "killed";
}

describe.each(RUN_KINDS)("%s", (kind) => {
  test.each(RUN_KINDS)("over a %s: never lost unless it may be", async (found) => {
    for (const left of ["finished", "killed", "left"] as const) {
      for (const flags of FLAGS) {
        const dir = writeFolder(fresh(), found, left);
        const before = readdirSync(dir).sort();
        const opened = await RunFolder.open(dir, kind, flags).catch((error) => error);
        const label = `${left} ${JSON.stringify(flags)}`;
        expect(opened instanceof RunFolder, label).toBe(allowed(kind, found, left, flags));
        if (opened instanceof RunFolder) await opened.leave();
        else {
          expect(opened, label).toMatchObject({ kind: "usage", hint: expect.any(String) });
          expect(readdirSync(dir).sort(), label).toEqual(before);
        }
      }
    }
  });

  test("in a foreign folder is refused, and the folder is untouched", async () => {
    const dir = fresh();
    mkdirSync(dir);
    writeFileSync(path.join(dir, "thesis.tex"), "mine");
    for (const flags of FLAGS) {
      await expect(RunFolder.open(dir, kind, flags)).rejects.toThrow(/not empty.*thesis\.tex/);
    }
    expect(readdirSync(dir)).toEqual(["thesis.tex"]);
  });

  test("two writers at once: one writes, the other is told", async () => {
    const dir = fresh();
    const all = await Promise.allSettled([1, 2, 3, 4].map(() => RunFolder.open(dir, kind)));
    const [winner] = all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const refusals = all.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
    expect(refusals).toHaveLength(3);
    for (const text of refusals) expect(text).toMatch(/being written by another process/);
    await winner?.leave();
    // Whoever made the folder removes it when nothing came of it, and that may have been another.
    expect(existsSync(dir) ? readdirSync(dir) : []).toEqual([]);
  });

  test("a new folder goes when nothing came of it", async () => {
    const dir = fresh();
    await (await RunFolder.open(dir, kind)).leave();
    expect(existsSync(dir)).toBe(false);
  });
});

test("everything appears at the end, the summary last, and nothing else is left", async () => {
  const dir = fresh();
  const folder = await RunFolder.open(dir, "eval");
  const lines = await folder.lines("results.jsonl");
  lines.add("{}");
  const growing = await folder.growing("log.jsonl");
  await growing.add('{"a":1}');
  expect(readdirSync(dir).sort()).toEqual([".running", "log.jsonl", "results.jsonl.partial"]);
  const hashes = await folder.seal({ "chart.svg": "<svg/>" });
  expect(Object.keys(hashes).sort()).toEqual(["chart.svg", "log.jsonl", "results.jsonl"]);
  await folder.finish({ m: 1 }, { s: 1 }, { "chart.svg": "<svg/>" });
  expect(readdirSync(dir).sort()).toEqual(
    ["chart.svg", "log.jsonl", "manifest.json", "results.jsonl", "summary.json"].sort(),
  );
  expect(readFileSync(path.join(dir, "results.jsonl"), "utf8")).toBe("{}\n");
});

test("a growing file keeps so many bytes of what was there, and is not linked away", async () => {
  const dir = fresh();
  mkdirSync(dir);
  const first = await RunFolder.open(dir, "train");
  const file = await first.growing("metrics.jsonl");
  await file.add("one");
  const kept = file.bytes;
  await file.add("two");
  await first.leave();
  writeFileSync(path.join(dir, "manifest.json"), '{"schema":"lockedroom.train@1"}');
  const second = await RunFolder.open(dir, "train", { resume: true });
  const again = await second.growing("metrics.jsonl", kept);
  await again.add("three");
  expect(again.bytes).toBe(10);
  await second.leave();
  expect(readFileSync(path.join(dir, "metrics.jsonl"), "utf8")).toBe("one\nthree\n");
});

test("a growing file that is shorter than is to be kept is refused and stays as it is", async () => {
  const dir = fresh();
  const folder = await RunFolder.open(dir, "train");
  writeFileSync(path.join(dir, "metrics.jsonl"), "one\n");
  for (const name of ["metrics.jsonl", "missing.jsonl"]) {
    await expect(folder.growing(name, 8)).rejects.toMatchObject({
      kind: "data",
      message: expect.stringMatching(/shorter than the saved state expects/),
      hint: expect.stringContaining("--force"),
    });
  }
  await folder.leave();
  expect(readdirSync(dir)).toEqual(["metrics.jsonl"]);
  expect(readFileSync(path.join(dir, "metrics.jsonl"), "utf8")).toBe("one\n");
});

test("--force removes the files of the old run, and nothing else that its summary lists", async () => {
  const dir = writeFolder(fresh(), "eval", "finished");
  writeFileSync(path.join(dir, "chart.svg"), "<svg/>");
  writeFileSync(path.join(dir, "thesis.tex"), "mine");
  mkdirSync(path.join(dir, "folder"));
  const hash = sha256("<svg/>");
  const listed = ["..", ".", "folder", "missing", "a/b", "thesis.tex", "chart.svg"];
  const files = Object.fromEntries(listed.map((name) => [name, hash]));
  const { summary: schema } = describeKind("eval");
  writeFileSync(path.join(dir, "summary.json"), JSON.stringify({ schema, loop: "A", files }));
  const folder = await RunFolder.open(dir, "eval", { force: true });
  await folder.finish({}, { new: 1 });
  expect(readdirSync(dir).sort()).toEqual([
    ...["folder", "manifest.json", "summary.json", "thesis.tex"],
  ]);
});

test.each(["eval", "select", "pairs"] as const)(
  "an interrupted %s whose claim is gone starts over with --force only",
  async (kind) => {
    const dir = writeFolder(fresh(), kind, "finished");
    rmSync(path.join(dir, "summary.json"));
    await expect(RunFolder.open(dir, kind)).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringContaining(`holds an unfinished ${describeKind(kind).name}`),
      hint: expect.stringContaining("--force"),
    });
    const folder = await RunFolder.open(dir, kind, { force: true });
    await folder.finish({}, {});
    expect(readdirSync(dir).sort()).toEqual(["manifest.json", "summary.json"]);
  },
);
