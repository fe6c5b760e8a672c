/** A fixed set of threads that judge batches; a batch goes to the thread with the least to do. */

import { Worker } from "node:worker_threads";
import { dataError } from "../core/errors.ts";
import type { CheckedScore, ScoreRequest } from "../core/score.ts";
import { strayFailure } from "../extensions/module.ts";

interface Lane {
  readonly worker: Worker;
  /** Why the thread is gone, once it is. */
  lost?: Error;
  readonly waiting: { resolve(judged: CheckedScore[]): void; reject(error: Error): void }[];
}

export interface Pool {
  scoreBatch(batch: readonly ScoreRequest[]): Promise<CheckedScore[]>;
  close(): Promise<void>;
}

export function openPool(scorer: string, jobs: number, timeoutMs: number): Pool {
  const concurrency = Array.from({ length: jobs }, () => openLane(scorer, timeoutMs));
  return {
    scoreBatch: (batch) =>
      new Promise((resolve, reject) => {
        const lane = concurrency.reduce((a, b) => (b.waiting.length < a.waiting.length ? b : a));
        if (lane.lost) return reject(lane.lost);
        lane.waiting.push({ resolve, reject });
        lane.worker.postMessage(batch);
      }),
    close: async () => {
      await Promise.all(concurrency.map((lane) => lane.worker.terminate()));
    },
  };
}

function openLane(scorer: string, timeoutMs: number): Lane {
  const worker = new Worker(new URL("./worker.js", import.meta.url), {
    workerData: { scorer, timeoutMs },
  });
  const lane: Lane = { worker, waiting: [] };
  const fail = (error: Error) => {
    lane.lost ??= error;
    for (const { reject } of lane.waiting.splice(0)) reject(error);
  };
  worker.on("message", (judged: CheckedScore[]) => lane.waiting.shift()?.resolve(judged));
  worker.on("error", (error) => fail(strayFailure(error)));
  worker.on("exit", () =>
    fail(dataError("the scorer ended its thread", "A scorer must not call process.exit.")),
  );
  return lane;
}
