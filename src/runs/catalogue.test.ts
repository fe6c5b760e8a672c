import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Left, RUN_KINDS, writeFolder } from "../../tests/fixtures/run-folders.ts";
import { kindOf, listRuns, type RunEntry } from "./catalogue.ts";
import { RunFolder } from "./run-folder.ts";
import { tail } from "./tail.ts";

const roots: string[] = [];
const root = () => {
  const dir = mkdtempSync(path.join(tmpdir(), "lockedroom-runs-"));
  roots.push(dir);
  return dir;
};
afterAll(() => {
  for (const dir of roots) rmSync(dir, { recursive: true });
});

async function list(dir: string): Promise<RunEntry[]> {
  const all: RunEntry[] = [];
  for await (const entry of listRuns(dir)) all.push(entry);
  return all;
}

const STATES = {
  finished: "finished",
  killed: "interrupted",
  running: "running",
  left: "interrupted",
} as const;

test("every kind in every state", async () => {
  const dir = root();
  const expected: string[] = [];
  for (const kind of RUN_KINDS) {
    for (const left of Object.keys(STATES) as Left[]) {
      // Without a claim, only what can be resumed is left behind.
      if (left === "left" && kind !== "train" && kind !== "rollout") continue;
      writeFolder(path.join(dir, `${kind}-${left}`), kind, left);
      expected.push(`${kind}-${left} ${kind} ${STATES[left]}`);
    }
  }
  const found = await list(dir);
  const lines = found.map((one) => `${path.basename(one.dir)} ${one.kind} ${one.state}`);
  expect(lines).toEqual(expected.sort());
  for (const { dir: run, kind } of found) expect(await kindOf(run)).toBe(kind);
  for (const { startedAt } of found) expect(Number.isNaN(Date.parse(startedAt))).toBe(false);
  const by = Object.fromEntries(found.map((one) => [path.basename(one.dir), one]));
  expect(by["eval-finished"]?.startedAt).toBe("2026-01-02T03:04:05.000Z");
  expect(by["eval-finished"]?.headline).toEqual({
    pass_rate: 0.5,
    n_scored: 3,
    n_examples: 4,
  });
  expect(by["experiment-finished"]?.headline).toEqual({ pass_rate: null, mean_reward: null });
  expect(by["train-running"]?.headline, "of the last whole line").toEqual({
    steps: 1,
    last_loss: 0.75,
  });
  expect(by["eval-killed"]?.headline).toEqual({});
});

test("a run that this process writes is running, and finished after it", async () => {
  const dir = path.join(root(), "run");
  const folder = await RunFolder.open(dir, "select");
  expect(await list(dir)).toMatchObject([{ kind: "select", state: "running" }]);
  await folder.finish(
    { schema: "lockedroom.manifest@1", loop: "B" },
    { schema: "lockedroom.summary@1", loop: "B" },
  );
  expect(await list(dir)).toMatchObject([{ kind: "select", state: "finished" }]);
});

test("runs below runs, links, loops, and what is no run", async () => {
  const dir = root();
  writeFolder(path.join(dir, "sweep/a=1"), "train", "finished");
  writeFolder(path.join(dir, "sweep/a=1/checkpoint/eval"), "eval", "finished");
  writeFileSync(path.join(dir, "sweep/sweep.json"), "{}");
  writeFolder(path.join(dir, "node_modules/x"), "eval", "finished");
  writeFolder(path.join(dir, ".hidden/x"), "eval", "finished");
  mkdirSync(path.join(dir, "papers"));
  writeFileSync(path.join(dir, "papers/manifest.json"), '{"schema":"somebody.else@1"}');
  const elsewhere = writeFolder(path.join(root(), "far"), "pairs", "finished");
  symlinkSync(elsewhere, path.join(dir, "linked"));
  symlinkSync(elsewhere, path.join(dir, "linked-again"));
  symlinkSync(dir, path.join(dir, "sweep/up"));
  symlinkSync("nowhere", path.join(dir, "dangling"));
  expect((await list(dir)).map((one) => path.relative(dir, one.dir))).toEqual([
    "linked",
    "sweep/a=1",
    "sweep/a=1/checkpoint/eval",
  ]);
});

test("what cannot be read is reported, and the rest is listed", async () => {
  const dir = root();
  writeFolder(path.join(dir, "z"), "eval", "finished");
  symlinkSync("loop", path.join(dir, "loop"));
  const skipped: string[] = [];
  const onUnreadable = (folder: string) => skipped.push(path.basename(folder));
  const found = [];
  for await (const { kind } of listRuns(dir, { onUnreadable })) found.push(kind);
  expect(found).toEqual(["eval"]);
  expect(skipped).toEqual(["loop"]);
  await expect(list(path.join(dir, "nowhere"))).rejects.toMatchObject({ kind: "data" });
  await expect(list(path.join(dir, "z/summary.json"))).rejects.toMatchObject({ kind: "data" });
});

test("half-written JSON: the other file still says what it is", async () => {
  const dir = root();
  const [a, b, c] = ["a", "b", "c"].map((name) =>
    writeFolder(path.join(dir, name), "rollout", "finished"),
  ) as [string, string, string];
  writeFileSync(path.join(a, "manifest.json"), '{"schema":"lockedr');
  writeFileSync(path.join(b, "summary.json"), '{"schema":');
  for (const name of ["manifest", "summary"]) writeFileSync(path.join(c, `${name}.json`), "{");
  expect(await list(dir)).toMatchObject([
    { kind: "rollout", state: "finished" },
    { kind: "rollout", state: "interrupted" },
  ]);
});

test("a folder of many files and many runs is listed as it is read", async () => {
  const dir = root();
  for (let i = 0; i < 300; i++) writeFolder(path.join(dir, String(i)), "eval", "finished");
  for (let i = 0; i < 2000; i++) writeFileSync(path.join(dir, `${i}.txt`), "");
  for await (const { kind } of listRuns(dir)) {
    expect(kind).toBe("eval");
    break; // Whoever has seen enough stops.
  }
  expect(await list(dir)).toHaveLength(300);
});

test("a pipe in place of a file is reported, and nothing waits for it", async () => {
  const dir = root();
  for (const name of ["manifest.json", "summary.json", ".running", "metrics.jsonl"]) {
    const run = writeFolder(path.join(dir, name.replace(".", "")), "train", "finished");
    rmSync(path.join(run, name), { force: true });
    execFileSync("mkfifo", [path.join(run, name)]);
  }
  const unreadable: string[] = [];
  const onUnreadable = (found: string) => unreadable.push(path.basename(found));
  const listed: string[] = [];
  for await (const entry of listRuns(dir, { onUnreadable })) listed.push(path.basename(entry.dir));
  expect(unreadable).toEqual(["manifestjson", "summaryjson"]);
  expect(listed).toEqual(["metricsjsonl", "running"]);
  await expect(kindOf(path.join(dir, "manifestjson"))).rejects.toMatchObject({ kind: "data" });
  await expect(tail(path.join(dir, "metricsjsonl"), "metrics.jsonl", 0)).rejects.toMatchObject({
    message: expect.stringContaining("not a regular file"),
  });
});

test("a number that is not finite is no figure", async () => {
  const dir = writeFolder(root(), "train", "finished");
  const file = path.join(dir, "summary.json");
  writeFileSync(file, readFileSync(file, "utf8").replace('"last_loss":0.5', '"last_loss":1e400'));
  const [entry] = await list(dir);
  expect(entry?.headline).toEqual({ steps: 2, tokens: 10, alarms: 0 });
});

test("with repeats, examples and samples are counted apart", async () => {
  const dir = path.join(root(), "run");
  writeFolder(dir, "eval", "finished");
  const file = path.join(dir, "summary.json");
  const summary = JSON.parse(readFileSync(file, "utf8"));
  Object.assign(summary.metrics, { n_scored: 180, n_examples: 180, repeats: 3 });
  writeFileSync(file, JSON.stringify(summary));
  const [entry] = await list(dir);
  expect(entry?.headline).toMatchObject({ n_scored: 180, n_examples: 60, repeats: 3 });
});
