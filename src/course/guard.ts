/**
 * Loaded first into every process that runs a learner's code: a thread that ends the process when its
 * time or its memory is used up, or when the checker that started it is gone. A loop cannot stop it.
 */

import { isMainThread, Worker, workerData } from "node:worker_threads";

interface Limits {
  readonly guard: true;
  readonly seconds: number;
  readonly megabytes: number;
  readonly parent: number;
}

const LOOK_MS = 100;
/** What Node itself takes besides the heap. */
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
  // Any other thread of the process loads this file too, and has nothing to do here.
  watch(workerData as Limits);
}

function watch({ seconds, megabytes, parent }: Limits): void {
  const started = Date.now();
  setInterval(() => {
    const late = Date.now() - started > 1000 * seconds;
    const large = process.memoryUsage.rss() > 1e6 * (megabytes + OVERHEAD_MB);
    // The whole group, of which this process is the leader: what it started goes with it.
    if (late || large || process.ppid !== parent) process.kill(-process.pid, "SIGKILL");
  }, LOOK_MS);
}
