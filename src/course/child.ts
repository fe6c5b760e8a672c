/**
 * Runs a learner's code in a process of its own, with limits on time and memory. Whatever it does,
 * the checker goes on and can say what happened.
 */

import { type ChildProcess, fork, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { NO_CACHE } from "./typescript.ts";

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

const MOST_OUTPUT = 4 * 1024 * 1024;
/** How long a pipe may stay open after the process has ended: a grandchild may hold it for ever. */
const GRACE_MS = 200;

/** Flags of every child: a heap that ends, and a guard that watches from a thread of its own. */
function guarded({ seconds, megabytes }: Limits): string[] {
  const guard = new URL("./guard.js", import.meta.url);
  guard.search = `?seconds=${seconds}&megabytes=${megabytes}&parent=${process.pid}`;
  return [`--max-old-space-size=${megabytes}`, "--no-warnings", "--import", guard.href];
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
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      if (output[name].length < MOST_OUTPUT) output[name] += text;
    });
  }
  const end = await ended(child, limits);
  return { code: end.code, ...output, stopped: stopReason(end, output.stderr, limits) };
}

/** Why the guard killed it: only two limits can be the reason, and time is easy to tell. */
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

/** Waits for the end of a process and of its whole group, whoever still holds its pipes. */
async function ended(child: ChildProcess, { seconds }: Limits): Promise<End> {
  const started = Date.now();
  // The guard inside comes first; this is for a process that never got as far as starting it.
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
    child.kill("SIGKILL"); // No such group: it has ended, or the system knows none.
  }
}

/** A function or value of a learner's file; `args` of a value are left out. */
export interface Call {
  readonly export: string;
  readonly args?: readonly unknown[];
}

const answerSchema = z.union([
  z.strictObject({ value: z.unknown() }),
  z.strictObject({ error: z.string() }),
]);
const messageSchema = z.strictObject({ nonce: z.string(), answers: z.array(answerSchema) });

export type Answer = { readonly value: unknown } | { readonly error: string };

/** What the child is asked. */
export interface Question {
  readonly nonce: string;
  readonly file: string;
  readonly cache: string;
  readonly calls: readonly Call[];
}

/** Asks the exports of a file, one call after the other in one process. */
export async function callExports(
  file: string,
  calls: readonly Call[],
  cache: string = NO_CACHE,
  cwd?: string,
  limits: Limits = CHECK_LIMITS,
): Promise<Answer[]> {
  const child = fork(fileURLToPath(new URL("./answer.js", import.meta.url)), [], {
    execArgv: guarded(limits),
    env: {},
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    detached: true,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const nonce = crypto.randomUUID();
  const answered = new Promise<Answer[]>((resolve) => {
    child.on("message", (message) => {
      const parsed = messageSchema.safeParse(message);
      const ours = parsed.success && parsed.data.nonce === nonce;
      if (ours && parsed.data.answers.length === calls.length)
        resolve(parsed.data.answers as Answer[]);
    });
  });
  const gone = ended(child, limits).then(
    (end) => stopReason(end, "", limits) ?? `the process ended by itself with code ${end.code}`,
    (error: Error) => error.message,
  );
  try {
    child.send({ nonce, file, cache, calls } satisfies Question, () => {});
    const first = await Promise.race([answered, gone]);
    return typeof first === "string" ? calls.map(() => ({ error: first })) : first;
  } finally {
    killGroup(child);
  }
}
