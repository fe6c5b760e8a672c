/**
 * Runs a learner's code in a process of its own, with limits on time and memory. Whatever it does,
 * the checker goes on and can say what happened.
 */

import { fork, spawn } from "node:child_process";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { NO_CACHE } from "./typescript.ts";

export interface Limits {
  readonly seconds: number;
  readonly megabytes: number;
}

export const CHECK_LIMITS: Limits = { seconds: 20, megabytes: 256 };

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Set when a limit ended it. */
  readonly stopped: string | undefined;
}

const MOST_OUTPUT = 4 * 1024 * 1024;

/** Runs Node with these arguments; the environment is empty, so that no key can leak into a log. */
export async function runNode(
  args: readonly string[],
  cwd: string,
  limits: Limits = CHECK_LIMITS,
): Promise<Finished> {
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${limits.megabytes}`, "--no-warnings", ...args],
    { cwd, env: { NO_COLOR: "1" }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      if (output[name].length < MOST_OUTPUT) output[name] += text;
    });
  }
  let stopped: string | undefined;
  const timer = setTimeout(() => {
    stopped = `it did not end within ${limits.seconds} seconds`;
    child.kill("SIGKILL");
  }, 1000 * limits.seconds);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  }).finally(() => clearTimeout(timer));
  if (output.stderr.includes("heap out of memory")) {
    stopped = `it used more than ${limits.megabytes} MB`;
  }
  return { code, ...output, stopped };
}

/** A function or value of a learner's file; `args` of a value are left out. */
export interface Call {
  readonly export: string;
  readonly args?: readonly unknown[];
}

export type Answer = { readonly value: unknown } | { readonly error: string };

/** What the child is asked, and what it answers. */
export interface Question {
  readonly file: string;
  readonly cache: string;
  readonly calls: readonly Call[];
}

/** Asks the exports of a file, one call after the other in one process. */
export async function callExports(
  file: string,
  calls: readonly Call[],
  cache: string = NO_CACHE,
  limits: Limits = CHECK_LIMITS,
): Promise<Answer[]> {
  const child = fork(fileURLToPath(new URL("./answer.js", import.meta.url)), [], {
    execArgv: [`--max-old-space-size=${limits.megabytes}`],
    env: {},
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
  });
  const ended = new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("exit", (code) => resolve(`the process ended by itself with code ${code}`));
  });
  const answered = new Promise<Answer[]>((resolve) => {
    child.on("message", (message) => resolve(message as Answer[]));
  });
  const timer = new AbortController();
  const late = after(1000 * limits.seconds, undefined, { signal: timer.signal }).then(
    () => `no answer within ${limits.seconds} seconds`,
    () => "",
  );
  try {
    child.send({ file, cache, calls } satisfies Question);
    const first = await Promise.race([answered, ended, late]);
    return typeof first === "string" ? calls.map(() => ({ error: first })) : first;
  } finally {
    timer.abort();
    child.kill("SIGKILL");
  }
}
