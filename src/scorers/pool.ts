/** A fixed set of threads that score batches; a batch goes to the thread with the least to do. */

import { Worker } from "node:worker_threads";
import { dataError } from "../core/errors.ts";
import type { CheckedScore, GuardedScorer } from "../core/score.ts";
import { strayFailure } from "../extensions/module.ts";

interface Lane {
  readonly worker: Worker;
  /** Why the thread ended, once it has. */
  lost?: Error;
  readonly waiting: { resolve(scored: CheckedScore[]): void; reject(error: Error): void }[];
}

/** What a thread is told when it starts. */
export interface ThreadOptions {
  /** A built-in's name or a file. */
  readonly scorer: string;
  readonly timeoutMs: number;
  readonly concurrency: number;
}

export function openPool(
  options: ThreadOptions,
  jobs: number,
): Pick<GuardedScorer, "scoreBatch" | "close"> {
  const lanes = Array.from({ length: jobs }, () => openLane(options));
  return {
    scoreBatch: (batch) =>
      new Promise((resolve, reject) => {
        const lane = lanes.reduce((a, b) => (b.waiting.length < a.waiting.length ? b : a));
        if (lane.lost) return reject(lane.lost);
        lane.waiting.push({ resolve, reject });
        lane.worker.postMessage(batch);
      }),
    close: async () => {
      await Promise.all(lanes.map((lane) => lane.worker.terminate()));
    },
  };
}

function openLane(options: ThreadOptions): Lane {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: options });
  const lane: Lane = { worker, waiting: [] };
  const fail = (error: Error) => {
    lane.lost ??= error;
    for (const { reject } of lane.waiting.splice(0)) reject(error);
  };
  worker.on("message", (scored: CheckedScore[]) => lane.waiting.shift()?.resolve(scored));
  worker.on("error", (error) => fail(strayFailure(error)));
  worker.on("exit", () =>
    fail(dataError("the scorer ended its thread", "A scorer must not call process.exit.")),
  );
  return lane;
}
