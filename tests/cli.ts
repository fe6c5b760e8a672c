/** Runs the built command in a child process, in a folder of its own, and says what came of it. */

import { type ChildProcess, spawn } from "node:child_process";
import {
  type Dirent,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect } from "vitest";
import type * as Charts from "../src/charts/index.ts";
import type * as Core from "../src/core/index.ts";
import type * as Learn from "../src/learn/index.ts";
import type * as Loops from "../src/loops/index.ts";
import type * as Policies from "../src/policy/index.ts";
import type * as Report from "../src/report/index.ts";
import type * as Runs from "../src/runs/index.ts";
import type { GateReport, Manifest, ResultRow, Summary } from "../src/runs/index.ts";
import type * as Scorers from "../src/scorers/index.ts";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const BIN = path.join(ROOT, "dist/cli/bin.js");
export const DEV = path.join(ROOT, "data/datasets/math_dev.jsonl");
export const FROZEN = path.join(ROOT, "data/rollouts/frozen_rollouts_dev.jsonl");
export const GOLDEN = path.join(ROOT, "data/golden/golden_correct.jsonl");
export const EXPLOITS = path.join(ROOT, "data/golden/golden_exploits.jsonl");

export const EXIT = { ok: 0, usage: 64, data: 65, bug: 70, io: 74 } as const;

type Api = typeof Charts &
  typeof Core &
  typeof Learn &
  typeof Loops &
  typeof Policies &
  typeof Report &
  typeof Runs &
  typeof Scorers;

/** The library as it is shipped, the subpaths that the tests use in one object. Its types come from
 * the source, so that checking needs no build. */
export const api: Api = Object.assign(
  {},
  ...["charts", "core", "learn", "loops", "policy", "report", "runs", "scorers"].map((folder) =>
    createRequire(import.meta.url)(`../dist/${folder}/index.js`),
  ),
);

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
}

export interface Surroundings {
  readonly env?: Record<string, string>;
  /** Run as this user; only root may ask for it. */
  readonly uid?: number;
  /** Give up after this long; the child is then killed and `signal` is SIGKILL. */
  readonly limitMs?: number;
}

const LIMIT_MS = 30_000;
const { PATH = "", HOME = "" } = process.env;

/** Starts any program with a clean environment; stdin is a pipe that stays open and silent. */
export function start(
  program: string,
  args: readonly string[],
  cwd: string,
  { env = {}, uid, limitMs = LIMIT_MS }: Surroundings = {},
): Running {
  const child = spawn(program, args, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, ...output }));
  }).finally(() => clearTimeout(timer));
  return { child, finished };
}

let free = Math.max(2, availableParallelism());
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (free > 0) free--;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A temporary folder that is removed after the test file; commands run inside it. */
export class Workspace {
  readonly dir = mkdtempSync(path.join(tmpdir(), "lockedroom-"));

  constructor() {
    folders.push(this.dir);
  }

  path(...names: string[]): string {
    return path.join(this.dir, ...names);
  }

  write(name: string, content: string | Uint8Array): string {
    mkdirSync(path.dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
    return name;
  }

  /** Writes one line of JSON per value. */
  jsonl(name: string, values: readonly unknown[]): string {
    return this.write(name, values.map((value) => `${JSON.stringify(value)}\n`).join(""));
  }

  read(...names: string[]): string {
    return readFileSync(this.path(...names), "utf8");
  }

  has(...names: string[]): boolean {
    return existsSync(this.path(...names));
  }

  start(args: readonly string[], surroundings?: Surroundings): Running {
    return start(process.execPath, [BIN, ...args], this.dir, surroundings);
  }

  /** Runs to the end, a few at a time: on a crowded machine, honest work runs into time limits. */
  run(args: readonly string[], surroundings?: Surroundings): Promise<Finished> {
    return inTurn(() => this.start(args, surroundings).finished);
  }

  /** `eval` of d.jsonl and c.jsonl into `outdir`, or of what `flags` say instead. */
  eval(outdir: string, flags: readonly string[] = [], surroundings?: Surroundings) {
    return this.run(evalArgs(outdir, flags), surroundings);
  }

  /** The same, insisting on success. */
  async made(outdir: string, flags: readonly string[] = []): Promise<RunFiles> {
    const result = await this.eval(outdir, flags);
    expect(result, result.stderr).toMatchObject({ code: EXIT.ok, stderr: "" });
    return this.readRun(outdir);
  }

  /** The same through the library: for a run that a test needs but is not about. */
  async prepare(outdir: string, completions = "c.jsonl", force = false): Promise<RunFiles> {
    const scorer = await api.openScorer();
    const [dataset, answers] = [this.path("d.jsonl"), this.path(completions)];
    await api.evaluate({
      dataset,
      completions: answers,
      outdir: this.path(outdir),
      scorer,
      force,
    });
    await scorer.close();
    return this.readRun(outdir);
  }

  /** A run's files, each checked against its schema; the rows only when they are asked for. */
  readRun(outdir: string): RunFiles {
    const results = this.read(outdir, "results.jsonl");
    const summaryText = this.read(outdir, "summary.json");
    return {
      results,
      get rows() {
        const lines = results.trimEnd().split("\n");
        return lines.map((line) => api.resultRowSchema.parse(JSON.parse(line)));
      },
      summaryText,
      summary: api.summarySchema.parse(JSON.parse(summaryText)),
      manifest: api.manifestSchema.parse(JSON.parse(this.read(outdir, "manifest.json"))),
    };
  }

  /** Every file under a folder with its content, to see later whether anything changed. */
  snapshot(folder: string): Record<string, string> {
    const files: Record<string, string> = {};
    const entries: Dirent[] = readdirSync(this.path(folder), {
      recursive: true,
      withFileTypes: true,
    });
    for (const entry of entries.filter((one) => one.isFile())) {
      const file = path.join(entry.parentPath, entry.name);
      files[path.relative(this.path(folder), file)] = readFileSync(file, "latin1");
    }
    return files;
  }
}

export interface RunFiles {
  readonly results: string;
  readonly rows: ResultRow[];
  readonly summaryText: string;
  readonly summary: Summary;
  readonly manifest: Manifest;
}

export function evalArgs(outdir: string, flags: readonly string[] = []): string[] {
  const named = (flag: string, file: string) => (flags.includes(flag) ? [] : [flag, file]);
  return [
    "eval",
    ...named("--dataset", "d.jsonl"),
    ...named("--completions", "c.jsonl"),
    "--outdir",
    outdir,
    ...flags,
  ];
}

/** A workspace whose d.jsonl and c.jsonl hold `count` sums, every third one answered wrongly. */
export function sums(count: number): Workspace {
  const workspace = new Workspace();
  const numbers = Array.from({ length: count }, (_, index) => index);
  workspace.jsonl(
    "d.jsonl",
    numbers.map((n) => ({ id: `s${n}`, prompt: `Compute ${n} + ${n}.`, expected_answer: 2 * n })),
  );
  workspace.jsonl(
    "c.jsonl",
    numbers.map((n) => ({ id: `s${n}`, completion: `Final: ${n % 3 === 2 ? 2 * n + 1 : 2 * n}` })),
  );
  return workspace;
}

/** A user's scorer file around the body of `score`. */
export function scorerSource(body: string, before = ""): string {
  return `export const name = "mine";
export const version = "1.0.0";
export const spec = "as the test says";
${before}
export function score(example: any, completion: string) { ${body} }
`;
}

/** What a person can mend is told in a sentence and a next step, without a stack or a control character. */
export function expectError(
  result: Finished,
  code: number | readonly number[],
  ...says: (string | RegExp)[]
): void {
  expect([code].flat(), describeRun(result)).toContain(result.code);
  expect(result.stdout).toBe("");
  expect(result.stderr).toMatch(/^lockedroom: \S+ \S+/);
  expect(result.stderr, "a next step after the sentence").toMatch(/\n {2}\S+ \S+/);
  expect(result.stderr, "no stack").not.toMatch(/^\s+at /m);
  expect(result.stderr, "nothing for a terminal to obey").not.toMatch(RAW_CONTROL);
  // A pattern may meet the text as it was before it was wrapped.
  const unwrapped = result.stderr.replaceAll(/\s*\n\s*/g, " ");
  for (const text of says) {
    expect(matches(result.stderr, text) ? result.stderr : unwrapped).toMatch(text);
  }
}

function matches(whole: string, part: string | RegExp): boolean {
  return typeof part === "string" ? whole.includes(part) : part.test(whole);
}

/** Anything that a terminal would obey rather than show, the line feed apart. */
export const RAW_CONTROL = /[^\P{C}\n]/u;

export function describeRun({ code, signal, stdout, stderr }: Finished): string {
  const text = `exit ${code ?? signal}\n--- stdout\n${stdout}\n--- stderr\n${stderr}`;
  return text.replaceAll(
    new RegExp(RAW_CONTROL, "gu"),
    (c) => `<${c.codePointAt(0)?.toString(16)}>`,
  );
}

/** The gate's verdict as JSON, with the process's exit code and the reasons' codes. */
export async function gate(
  workspace: Workspace,
  baseline: string,
  candidate: string,
  ...flags: string[]
) {
  const runs = ["--baseline", baseline, "--candidate", candidate];
  const { code, stdout } = await workspace.run(["gate", ...runs, "--format", "json", ...flags]);
  const report = JSON.parse(stdout) as GateReport;
  return { code, ...report, codes: report.reasons.map((reason) => reason.code) };
}

export function until(holds: () => boolean, what: string): Promise<void> {
  return expect.poll(holds, { message: what, interval: 5, timeout: LIMIT_MS }).toBe(true);
}

/** An environment in which modules of such names are not installed. */
export function absent(workspace: Workspace, names: RegExp): Record<string, string> {
  workspace.write(
    "hooks.mjs",
    `export async function resolve(name, context, next) {
      if (${names}.test(name))
        throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: "ERR_MODULE_NOT_FOUND" });
      return next(name, context);
    }`,
  );
  workspace.write(
    "absent.mjs",
    `import { register } from "node:module"; register("./hooks.mjs", import.meta.url);`,
  );
  return { NODE_OPTIONS: `--import=${workspace.path("absent.mjs")}` };
}
