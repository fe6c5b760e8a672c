/**
 * Loaded first into every process that runs a learner's code: a thread that kills the process when it
 * exceeds its time or memory limit, or when the parent has ended. An endless loop cannot block it.
 */

import { isMainThread, Worker, workerData } from "node:worker_threads";

interface Limits {
  readonly guard: true;
  readonly seconds: number;
  readonly megabytes: number;
  readonly parent: number;
}

const INTERVAL_MS = 100;
/** What Node itself uses besides the heap. */
const OVERHEAD_MB = 256;

if (isMainThread) {
  const given = new URL(import.meta.url).searchParams;
  const [seconds, megabytes, parent] = ["seconds", "megabytes", "parent"].map((name) =>
    Number(given.get(name)),
  );
  const [file = ""] = import.meta.url.split("?");
  new Worker(new URL(file), {
    workerData: { guard: true, seconds, megabytes, parent },
    execArgv: [],
  }).unref();
} else if ((workerData as Limits | null)?.guard) {
  // Other threads of the process load this file too, and must do nothing.
  watch(workerData as Limits);
}

function watch({ seconds, megabytes, parent }: Limits): void {
  const started = Date.now();
  setInterval(() => {
    const late = Date.now() - started > 1000 * seconds;
    const large = process.memoryUsage.rss() > 1e6 * (megabytes + OVERHEAD_MB);
    // This process leads its group, so everything that it started is killed too.
    if (late || large || process.ppid !== parent) process.kill(-process.pid, "SIGKILL");
  }, INTERVAL_MS);
}
