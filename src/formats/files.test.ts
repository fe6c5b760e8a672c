import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { canonicalJson } from "../core/json.ts";
import type { Trajectory } from "../core/trajectory.ts";
import { exportTrajectories } from "./export.ts";
import { formatNamed } from "./formats.ts";
import { importTrajectories } from "./import.ts";
import { called, game } from "./scripted.contract.ts";

const room = () => mkdtempSync(path.join(tmpdir(), "trajectories-"));
const lines = (records: readonly unknown[]) =>
  records.map((r) => `${JSON.stringify(r)}\n`).join("");

function fileOf(records: readonly unknown[], name = "given.jsonl"): string {
  const file = path.join(room(), name);
  writeFileSync(file, lines(records));
  return file;
}

/** Files of other programs, as small as their libraries allow. */
const FOREIGN = {
  art: {
    trajectories: [
      {
        messages_and_choices: [
          { role: "user", content: "2 + 2?" },
          { finish_reason: "stop", index: 0, message: { role: "assistant", content: "4" } },
        ],
        reward: 1,
        metrics: { solved: true },
        metadata: { scenario_id: "sum-1" },
      },
    ],
    exceptions: [{ type: "TimeoutError", message: "too slow", traceback: "" }],
  },
  verifiers: {
    id: "e1",
    task: { type: "Task", data: { idx: 4 } },
    ok: true,
    traces: [
      {
        nodes: [
          { message: { role: "user", content: "2 + 2?" } },
          {
            parent: 0,
            message: { role: "assistant", content: "4" },
            sampled: true,
            ...{ token_ids: [1, 2, 3], mask: [false, false, true], logprobs: [-0.5] },
          },
        ],
        rewards: { right: { score: 1, weight: 0.5 }, short: { score: 1, weight: 0.25 } },
        is_completed: true,
        stop_condition: "max_turns",
      },
    ],
  },
  openenv: {
    episode_id: "ep-000001",
    messages: [
      { role: "user", content: "2 + 2?" },
      { role: "assistant", content: "4" },
    ],
    ...{ reward: 1, done: true, tool_trace: [], metrics: { turns: 1, note: "x" } },
  },
  atif: {
    schema_version: "ATIF-v1.4",
    session_id: "s1",
    agent: { name: "a", version: "1" },
    steps: [
      { step_id: 1, source: "user", message: "2 + 2?" },
      {
        ...{ step_id: 2, source: "agent", message: "" },
        tool_calls: [{ tool_call_id: "c1", function_name: "add", arguments: { a: 2, b: 2 } }],
        observation: { results: [{ source_call_id: "c1", content: "4" }] },
      },
    ],
  },
  trl: { prompt: "2 + 2?", completion: "4" },
} as const;

async function imported(format: keyof typeof FOREIGN | "lockedroom", ...records: unknown[]) {
  const outdir = path.join(room(), "imported");
  const said = await importTrajectories(fileOf(records), formatNamed(format), outdir);
  const text = readFileSync(path.join(outdir, "trajectories.jsonl"), "utf8");
  const trajectories = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Trajectory);
  return { outdir, said, trajectories };
}

test.each([
  ["art", { id: "sum-1", reward: 1, metrics: { solved: 1 }, code: "imported" }],
  ["verifiers", { id: "task-4", reward: 0.75, code: "max_turns", terminated: false }],
  ["openenv", { id: "ep-000001", reward: 1, terminated: true, metrics: { turns: 1 } }],
  ["atif", { id: "s1", reward: null, terminated: false }],
  ["trl", { id: "line-1", reward: null, code: "imported" }],
] as const)("%s: reads a file of another program", async (format, expected) => {
  const { said, trajectories } = await imported(format, FOREIGN[format]);
  expect(trajectories[0]).toMatchObject({ ...expected, sample: 0, address: [] });
  expect(trajectories[0]?.messages[0]).toEqual({ role: "user", content: "2 + 2?" });
  expect(trajectories[0]?.messages[1]?.role).toBe("assistant");
  expect(said).toMatchObject({ trajectories: 1, foreign: 1 });
});

test("tokens, calls and failures of other programs are kept", async () => {
  const { trajectories } = await imported("verifiers", FOREIGN.verifiers);
  expect(trajectories[0]?.segments).toEqual([{ tokens: [1, 2, 3], actions: [[2, 3]] }]);
  expect(trajectories[0]?.messages[1]).toMatchObject({
    sampled: { token_ids: [3], logprobs: [-0.5] },
  });
  const atif = await imported("atif", FOREIGN.atif);
  expect(atif.trajectories[0]?.messages.slice(1)).toMatchObject([
    { content: '{"arguments":{"a":2,"b":2},"tool":"add"}', tool_calls: [{ id: "c1" }] },
    { role: "tool", content: "4", tool_call_id: "c1" },
  ]);
  const art = await imported("art", FOREIGN.art);
  const failures = readFileSync(path.join(art.outdir, "failures.jsonl"), "utf8");
  expect(JSON.parse(failures)).toMatchObject({ sample: 1, type: "TimeoutError" });
});

test("the provenance of an import says that nothing is known", async () => {
  const { outdir, said } = await imported("trl", FOREIGN.trl);
  const provenance = readFileSync(path.join(outdir, "trajectories.provenance.json"), "utf8");
  expect(JSON.parse(provenance)).toEqual({
    schema: "lockedroom.provenance@1",
    completions_sha256: said.sha256,
    ...{ policy: null, prompt: null, sampling: null },
  });
});

test("samples of a task that the file does not number are numbered", async () => {
  const { trajectories } = await imported("verifiers", FOREIGN.verifiers, FOREIGN.verifiers);
  expect(trajectories.map(({ id, sample }) => [id, sample])).toEqual([
    ["task-4", 0],
    ["task-4", 1],
  ]);
});

const withRole = { ...FOREIGN.openenv, messages: [{ role: "narrator", content: "x" }] };
const edited = (() => {
  const format = formatNamed("openenv");
  const context = { tools: [], environment: null, policy: null, version: "0" };
  const group = { id: "x", trajectories: [called(3)], failures: [] };
  const [record] = format.write(group, context);
  return { ...record, messages: [] };
})();

test.each([
  ["openenv", withRole, 'message 1 has the role "narrator"; known are system'],
  ["openenv", { ...FOREIGN.openenv, reward: "high" }, "reward: Invalid input: expected number"],
  ["openenv", edited, 'its part "lockedroom" does not belong to the rest of the record'],
  ["trl", { question: "2 + 2?" }, "neither messages nor prompt and completion"],
  ["trl", { messages: [{ role: "user", content: [{ type: "image" }] }] }, "is not text"],
  ["atif", { ...FOREIGN.atif, schema_version: "ATIF-v2.0" }, "schema_version"],
  ["art", { trajectories: [{ messages_and_choices: [], reward: null }] }, "trajectory 1 of the"],
  ["verifiers", { ...FOREIGN.verifiers, traces: [{}, {}] }, "has 2 traces"],
  ["lockedroom", { id: "x" }, "not a trajectory: sample"],
] as const)("%s: what is wrong is a sentence with its line", async (format, bad, message) => {
  const good = format === "lockedroom" ? game() : FOREIGN[format];
  const outdir = path.join(room(), "out");
  const work = importTrajectories(fileOf([good, bad]), formatNamed(format), outdir);
  await expect(work).rejects.toMatchObject({ kind: "data" });
  await expect(work).rejects.toThrow(`given.jsonl:2: `);
  await expect(work).rejects.toThrow(message);
  expect(existsSync(outdir)).toBe(false);
});

test("a branch in a graph of messages is refused, and not cut off in silence", async () => {
  const [trace] = FOREIGN.verifiers.traces;
  const branched = { ...trace, nodes: [...trace.nodes, { ...trace.nodes[1], parent: 0 }] };
  const work = imported("verifiers", { ...FOREIGN.verifiers, traces: [branched] });
  await expect(work).rejects.toThrow("the trace branches: node 2 follows node 0");
});

test.each([
  ['{"episode_id": "x", "messages": [{"role": "us', "not valid JSON"],
  ['{"episode_id": "x", "reward": NaN}', "NaN"],
])("a line that is no JSON is named: %s", async (line, message) => {
  const file = fileOf([FOREIGN.openenv]);
  writeFileSync(file, lines([FOREIGN.openenv]) + line);
  const work = importTrajectories(file, formatNamed("openenv"), path.join(room(), "out"));
  await expect(work).rejects.toMatchObject({ kind: "data" });
  await expect(work).rejects.toThrow("given.jsonl:2: not valid JSON");
  await expect(work.catch((error) => `${error.message} ${error.hint}`)).resolves.toContain(message);
});

test("the same sample twice is refused", async () => {
  await expect(imported("lockedroom", game(), game())).rejects.toThrow("is there twice");
});

test("an empty file is refused", async () => {
  await expect(imported("trl")).rejects.toThrow("holds no trajectories");
});

test("art has a line for each task; a task that comes back later is refused", async () => {
  const [one, two, other] = [game(0, 0), game(0, 1), called(3)];
  const art = formatNamed("art");
  const outfile = path.join(room(), "art.jsonl");
  const { lines: written } = await exportTrajectories(fileOf([one, two, other]), art, outfile);
  expect(written).toBe(2);
  const apart = exportTrajectories(fileOf([one, other, two]), art, path.join(room(), "a.jsonl"));
  await expect(apart).rejects.toThrow("do not follow each other");
  const verifiers = path.join(room(), "v.jsonl");
  const fine = exportTrajectories(fileOf([one, other, two]), formatNamed("verifiers"), verifiers);
  await expect(fine).resolves.toMatchObject({ lines: 3 });
});

test("failures of a rollout come along, also of a task without any trajectory", async () => {
  const dir = room();
  const failed = { id: "never", sample: 0, type: "timeout", message: "30 s" };
  writeFileSync(path.join(dir, "trajectories.jsonl"), lines([game()]));
  writeFileSync(path.join(dir, "failures.jsonl"), lines([failed]));
  const outfile = path.join(dir, "art.jsonl");
  const exported = await exportTrajectories(dir, formatNamed("art"), outfile);
  expect(exported).toMatchObject({ lines: 2, failures: 1, failures_written: true });
  const back = path.join(dir, "back");
  await importTrajectories(outfile, formatNamed("art"), back);
  expect(JSON.parse(readFileSync(path.join(back, "failures.jsonl"), "utf8"))).toEqual(failed);
});

test("an existing file is kept unless it is to be replaced, and a failed export leaves nothing", async () => {
  const source = fileOf([game()]);
  const outfile = path.join(room(), "x.jsonl");
  const trl = formatNamed("trl");
  const first = await exportTrajectories(source, trl, outfile);
  await expect(exportTrajectories(source, trl, outfile)).rejects.toMatchObject({ kind: "usage" });
  const again = await exportTrajectories(source, trl, outfile, { force: true });
  expect(again.sha256).toBe(first.sha256);
  writeFileSync(source, `${canonicalJson(game())}\n{"id": "cut`);
  const before = readFileSync(outfile, "utf8");
  await expect(exportTrajectories(source, trl, outfile, { force: true })).rejects.toThrow(":2:");
  expect(readFileSync(outfile, "utf8")).toBe(before);
  expect(readdirSync(path.dirname(outfile))).toEqual(["x.jsonl"]);
});

test("an export never replaces what it reads", async () => {
  const source = fileOf([game()]);
  const work = exportTrajectories(source, formatNamed("trl"), source, { force: true });
  await expect(work).rejects.toThrow("is the file to export");
  expect(readFileSync(source, "utf8")).toBe(lines([game()]));
});

test("an import never goes into a run", async () => {
  const dir = path.join(room(), "run");
  mkdirSync(dir);
  writeFileSync(path.join(dir, "manifest.json"), '{"schema":"lockedroom.rollout@1"}');
  const file = fileOf([FOREIGN.trl]);
  const work = importTrajectories(file, formatNamed("trl"), dir, { force: true });
  await expect(work).rejects.toThrow("holds a run");
});
