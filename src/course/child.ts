/**
 * Runs a learner's code in a process of its own, with limits on time and memory. Whatever the code
 * does, the check continues and can report what happened.
 */

import { type ChildProcess, fork, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { z } from "zod";

export interface Limits {
  readonly seconds: number;
  readonly megabytes: number;
}

const CHECK_LIMITS: Limits = { seconds: 20, megabytes: 512 };

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Set when a limit ended it. */
  readonly stopped: string | undefined;
}

/** Programs that a child can be; see child-main.ts. */
type Mode = "call" | "run" | "two-step";

const MAIN = fileURLToPath(new URL("./child-main.js", import.meta.url));
/** In place of a cache folder: compiled code is not kept. */
const NO_CACHE = "-";

/** Arguments with which Node runs a TypeScript file. */
export function childProgram(file: string, cache: string = NO_CACHE, mode: Mode = "run"): string[] {
  return [MAIN, mode, cache, file];
}

const MAX_OUTPUT = 4 * 1024 * 1024;
/** How long a pipe may stay open after the process has ended: a grandchild may never close it. */
const GRACE_MS = 200;

/** Flags of every child: a heap limit, and a guard in a thread of its own. */
function guarded({ seconds, megabytes }: Limits): string[] {
  const guard = new URL("./child-guard.js", import.meta.url);
  guard.search = `?seconds=${seconds}&megabytes=${megabytes}&parent=${process.pid}`;
  return [`--max-old-space-size=${megabytes}`, "--no-warnings", "--import", guard.href];
}

const running = new Set<ChildProcess>();

/** Kills what `runNode` has under way, for a process that a signal ends. */
export function killRunning(): void {
  for (const child of running) killGroup(child);
}

/** Runs Node with these arguments; the environment is empty, so that no key can leak into a log. */
export async function runNode(
  args: readonly string[],
  cwd: string,
  limits: Limits = CHECK_LIMITS,
): Promise<Finished> {
  const child = spawn(process.execPath, [...guarded(limits), ...args], {
    cwd,
    env: { NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  running.add(child);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      if (output[name].length < MAX_OUTPUT) output[name] += text;
    });
  }
  const end = await ended(child, limits).finally(() => running.delete(child));
  return { code: end.code, ...output, stopped: stopReason(end, output.stderr, limits) };
}

/** Why the guard killed it: either limit, and the time is known. */
function stopReason(
  { code, seconds: took }: End,
  stderr: string,
  limits: Limits,
): string | undefined {
  if (code !== null && !stderr.includes("heap out of memory")) return undefined;
  return took >= limits.seconds
    ? `it did not end within ${limits.seconds} seconds`
    : `it used more than ${limits.megabytes} MB, or was killed`;
}

interface End {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly seconds: number;
}

/** Waits for the end of a process and of its whole group, even if a pipe stays open. */
async function ended(child: ChildProcess, { seconds }: Limits): Promise<End> {
  const started = Date.now();
  // The guard comes first; this is for a process that ended before the guard started.
  const timer = setTimeout(() => killGroup(child), 1000 * (seconds + 2));
  try {
    return await new Promise((resolve, reject) => {
      const settle = (code: number | null) =>
        resolve({ code, seconds: (Date.now() - started) / 1000 });
      child.on("error", reject);
      child.on("close", settle);
      child.on("exit", (code) => {
        setTimeout(() => {
          child.stdout?.destroy();
          child.stderr?.destroy();
          settle(code);
        }, GRACE_MS).unref();
      });
    });
  } finally {
    clearTimeout(timer);
    killGroup(child);
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL"); // No such group: it has ended, or the system has no groups.
  }
}

/** A function or value of a learner's file; `args` of a value are left out. */
export interface Call {
  readonly export: string;
  readonly args?: readonly unknown[];
}

const messageSchema = z.strictObject({
  nonce: z.string(),
  results: z.array(
    z.union([z.strictObject({ value: z.unknown() }), z.strictObject({ error: z.string() })]),
  ),
});

export type CallResult = { readonly value: unknown } | { readonly error: string };

/** What the parent sends. */
export interface CallRequest {
  readonly nonce: string;
  readonly calls: readonly Call[];
}

/** Calls the exports of a file, one after the other in one process. */
export async function callExports(
  file: string,
  calls: readonly Call[],
  cache: string = NO_CACHE,
  cwd?: string,
  limits: Limits = CHECK_LIMITS,
): Promise<CallResult[]> {
  const [main = "", ...args] = childProgram(file, cache, "call");
  const child = fork(main, args, {
    execArgv: guarded(limits),
    env: {},
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    detached: true,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const nonce = crypto.randomUUID();
  const answered = new Promise<CallResult[]>((resolve) => {
    child.on("message", (message) => {
      const { data } = messageSchema.safeParse(message);
      if (data?.nonce === nonce && data.results.length === calls.length)
        resolve(data.results as CallResult[]);
    });
  });
  const gone = ended(child, limits).then(
    (end) => stopReason(end, "", limits) ?? `the process ended by itself with code ${end.code}`,
    (error: Error) => error.message,
  );
  try {
    child.send({ nonce, calls } satisfies CallRequest, () => {});
    const first = await Promise.race([answered, gone]);
    return typeof first === "string" ? calls.map(() => ({ error: first })) : first;
  } finally {
    killGroup(child);
  }
}
