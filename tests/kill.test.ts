/** A run that was killed never looks done, and the same command afterwards succeeds. */

import { execFileSync } from "node:child_process";
import { createWriteStream, rmSync, type WriteStream } from "node:fs";
import { finished as ended } from "node:stream/promises";
import { describe, expect, test } from "vitest";
import {
  api,
  BIN,
  describeRun,
  EXIT,
  evalArgs,
  expectError,
  type Running,
  start,
  sums,
  until,
  type Workspace,
} from "./cli.ts";

const ROWS = 12_000;
const FILES = ["README.md", "manifest.json", "results.jsonl", "summary.json", "summary.md"];

interface Held extends Running {
  readonly workspace: Workspace;
  /** The completions, which the run waits for. */
  readonly pipe: WriteStream;
  readonly completions: string;
}

/** An evaluation that has written some rows and is waiting in the middle for more. */
async function held(...flags: string[]): Promise<Held> {
  const workspace = sums(ROWS);
  const completions = workspace.read("c.jsonl");
  rmSync(workspace.path("c.jsonl"));
  execFileSync("mkfifo", [workspace.path("c.jsonl")]);
  const running = workspace.start(evalArgs("run", flags));
  const pipe = createWriteStream(workspace.path("c.jsonl"));
  pipe.on("error", () => {}); // Its reader is going to be killed.
  pipe.write(completions.slice(0, 0.75 * completions.length));
  await until(() => written(workspace) > 1000, "rows are being written");
  return { ...running, workspace, pipe, completions };
}

/** Bytes in the run folder, under whatever names. */
function written(workspace: Workspace): number {
  if (!workspace.has("run")) return 0;
  return Object.values(workspace.snapshot("run")).reduce((sum, { length }) => sum + length, 0);
}

/** Lets go of the pipe and puts the whole file in its place. */
function completeInput({ workspace, pipe, completions }: Held): void {
  pipe.destroy();
  rmSync(workspace.path("c.jsonl"));
  workspace.write("c.jsonl", completions);
}

test.concurrent.each([
  ["SIGKILL", "1"],
  ["SIGKILL", "2"],
  ["SIGINT", "1"],
] as const)("%s in the middle, with --jobs %s", async (signal, jobs) => {
  const run = await held("--jobs", jobs);
  const { workspace, child } = run;
  child.kill(signal);
  const result = await run.finished;
  expect(result.signal ?? result.code, describeRun(result)).toBeOneOf([signal, 128 + 2]);
  expect(result.stdout).toBe("");
  expect(workspace.has("run", "summary.json")).toBe(false);
  const inspect = await workspace.run(["inspect-run", "--run", "run"]);
  expectError(inspect, EXIT.data, /run is unfinished/);

  completeInput(run);
  const again = await workspace.made("run", ["--jobs", jobs]);
  expect(again.summary.metrics).toMatchObject({ n_examples: ROWS, n_scored: ROWS });
  expect(again.results.split("\n")).toHaveLength(ROWS + 1);
  expect(Object.keys(workspace.snapshot("run")).sort()).toEqual(FILES);
});

test.concurrent("the gate refuses a run that was killed, on either side", async () => {
  const run = await held();
  const { workspace, child, finished } = run;
  child.kill("SIGKILL");
  await finished;
  completeInput(run);
  await workspace.prepare("whole");
  for (const pair of [
    ["--baseline", "run", "--candidate", "whole"],
    ["--baseline", "whole", "--candidate", "run"],
  ]) {
    expectError(await workspace.run(["gate", ...pair]), EXIT.data, /run is unfinished/);
  }
});

describe.concurrent("a second run beside the first", () => {
  test("in the same folder is refused, and the first one ends well", async () => {
    const { workspace, pipe, completions, finished } = await held();
    workspace.write("all.jsonl", completions);
    for (const flags of [[], ["--force"]]) {
      const second = await workspace.eval("run", ["--completions", "all.jsonl", ...flags]);
      expectError(second, EXIT.usage, /run is being written by another process/);
    }
    const inspect = await workspace.run(["inspect-run", "--run", "run"]);
    expectError(inspect, EXIT.data, /run is unfinished: it is still being written/);

    pipe.end(completions.slice(0.75 * completions.length));
    await ended(pipe);
    const first = await finished;
    expect(first, describeRun(first)).toMatchObject({ code: EXIT.ok, stderr: "" });
    expect(workspace.readRun("run").summary.metrics.n_scored).toBe(ROWS);
  });

  test("in another folder is no trouble", async () => {
    const { workspace, pipe, completions, finished } = await held();
    workspace.write("all.jsonl", completions);
    const other = await workspace.made("other", ["--completions", "all.jsonl"]);
    pipe.end(completions.slice(0.75 * completions.length));
    expect((await finished).code).toBe(EXIT.ok);
    expect(workspace.readRun("run").results).toBe(other.results);
  });
});

test.concurrent("a large run killed at any moment is whole or unfinished", async () => {
  const workspace = sums(25_000);
  const started = Date.now();
  const whole = await workspace.made("whole");
  const takes = Date.now() - started;
  for (const share of [0.4, 0.65, 0.9]) {
    rmSync(workspace.path("run"), { recursive: true, force: true });
    const { child, finished } = workspace.start(evalArgs("run"));
    await new Promise((resolve) => setTimeout(resolve, takes * share));
    child.kill("SIGKILL");
    await finished;
    if (workspace.has("run", "summary.json")) {
      expect(workspace.readRun("run").results).toBe(whole.results);
    } else if (workspace.has("run")) {
      const inspect = await workspace.run(["inspect-run", "--run", "run"]);
      expectError(inspect, EXIT.data, /run is unfinished/);
    }
  }
  if (!workspace.has("run", "summary.json")) await workspace.made("run");
  expect(workspace.readRun("run").results).toBe(whole.results);
});

/** Kills its process just before the nth change to the file system, of those that put files in place. */
const DIES = `
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
let left = Number(process.env.DIE_AFTER);
for (const name of ["mkdir", "writeFile", "open", "rename", "rm", "unlink", "rmdir"]) {
  const real = promises[name];
  promises[name] = (...args) => {
    if (left-- === 0) process.kill(process.pid, "SIGKILL");
    return real(...args);
  };
}
syncBuiltinESMExports();
`;

/** Runs the command again and again, each time letting it live one step longer, until it succeeds. */
async function dieAtEveryStep(
  workspace: Workspace,
  flags: readonly string[],
  prepare: () => Promise<void>,
  check: (steps: number) => Promise<void>,
): Promise<number> {
  workspace.write("dies.mjs", DIES);
  for (let steps = 0; steps < 100; steps++) {
    await prepare();
    const env = { NODE_OPTIONS: "--import ./dies.mjs", DIE_AFTER: String(steps) };
    const result = await workspace.eval("run", flags, { env });
    if (result.code === EXIT.ok) return steps;
    expect(result.signal, describeRun(result)).toBe("SIGKILL");
    await check(steps);
  }
  throw new Error("it never came to an end");
}

/** As the library reads it: whole, or a refusal; `undefined` when there is nothing at all. */
async function stateOf(workspace: Workspace): Promise<"whole" | "unfinished" | undefined> {
  if (!workspace.has("run")) return undefined;
  try {
    const run = await api.openRun(workspace.path("run"));
    const { intact } = await api.inspectRun(run);
    expect(intact, "a run that looks done has not been touched").toBe(true);
    return "whole";
  } catch (error) {
    expect(String(error)).toMatch(/unfinished/);
    return "unfinished";
  }
}

describe.concurrent("killed before each step", () => {
  test("of a new run", async () => {
    const workspace = sums(5);
    const states: unknown[] = [];
    const steps = await dieAtEveryStep(
      workspace,
      [],
      async () => rmSync(workspace.path("run"), { recursive: true, force: true }),
      async () => {
        const state = await stateOf(workspace);
        states.push(state);
        if (state !== "whole") await workspace.prepare("run");
        else expect(states.indexOf("whole"), "done is done").toBe(states.length - 1);
        expect(workspace.readRun("run").rows).toHaveLength(5);
        const left = Object.keys(workspace.snapshot("run")).filter((name) => !FILES.includes(name));
        if (state !== "whole") expect(left).toEqual([]);
      },
    );
    expect(steps, "the steps were counted").toBeGreaterThan(8);
    expect(states.filter((state) => state === "unfinished").length).toBeGreaterThan(6);
  });

  test("of a replacement: the old run or the new one, and a person's note", async () => {
    const workspace = sums(5);
    const mine = "my own words";
    const oldCompletions = workspace.read("c.jsonl");
    const newCompletions = oldCompletions.replace("Final: 0", "Final: 1");
    const { results: before } = await workspace.prepare("old");
    workspace.write("c.jsonl", newCompletions);
    const { results: after } = await workspace.prepare("new");
    const results = { old: before, new: after };
    expect(results.old).not.toBe(results.new);

    const seen = new Set<string>();
    await dieAtEveryStep(
      workspace,
      ["--force"],
      async () => {
        rmSync(workspace.path("run"), { recursive: true, force: true });
        workspace.write("c.jsonl", oldCompletions);
        await workspace.prepare("run");
        workspace.write("run/README.md", mine);
        workspace.write("c.jsonl", newCompletions);
      },
      async () => {
        const state = await stateOf(workspace);
        const found = Object.entries(results).find(
          ([, text]) => workspace.read("run", "results.jsonl") === text,
        )?.[0];
        seen.add(state === "whole" ? `whole ${found}` : String(state));
        expect(found, "results.jsonl is one of the two").toBeDefined();
        const notes = Object.entries(workspace.snapshot("run")).filter(([, text]) => text === mine);
        expect(notes, "the person's note is kept").toHaveLength(1);
        await workspace.prepare("run", "c.jsonl", state === "whole");
        expect(workspace.readRun("run").results).toBe(results.new);
        expect(Object.values(workspace.snapshot("run"))).toContain(mine);
      },
    );
    expect([...seen]).toContain("whole old");
    expect([...seen].every((state) => /whole|unfinished/.test(state))).toBe(true);
  });
});

describe.concurrent("a claim is void", () => {
  const half = (workspace: Workspace) =>
    workspace.write("run/results.jsonl.partial", '{"id":"half');

  test("when its process is gone", async () => {
    const workspace = sums(2);
    half(workspace);
    const gone = execFileSync("sh", ["-c", "echo $$"], { encoding: "utf8" });
    workspace.write("run/.running", gone);
    await workspace.made("run");
    expect(Object.keys(workspace.snapshot("run")).sort()).toEqual(FILES);
  });

  test("when it is this process's own number: containers count from 1 every time", async () => {
    const workspace = sums(2);
    half(workspace);
    const script = 'echo $$ > run/.running; exec "$0" "$@"';
    const args = ["-c", script, process.execPath, BIN, ...evalArgs("run")];
    const result = await start("sh", args, workspace.dir).finished;
    expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok, stderr: "" });
    expect(workspace.readRun("run").rows).toHaveLength(2);
  });

  test.each(["", "half-wri"])("when it was cut off: %j", async (claim) => {
    const workspace = sums(2);
    half(workspace);
    workspace.write("run/.running", claim);
    await workspace.made("run");
  });
});
