/** The other side of the pool: scores each batch it is sent, and answers in order. */

import { parentPort, workerData } from "node:worker_threads";
import type { ScoreRequest } from "../core/score.ts";
import { Guard } from "./guard.ts";
import { loadScorer } from "./load.ts";
import type { ThreadOptions } from "./open.ts";

const { scorer, timeoutMs, concurrency } = workerData as ThreadOptions;
const guard = new Guard(await loadScorer(scorer), timeoutMs, concurrency);
let previous: Promise<unknown> = Promise.resolve();
parentPort?.on("message", (batch: ScoreRequest[]) => {
  const scoring = guard.scoreBatch(batch);
  previous = previous.then(async () => parentPort?.postMessage(await scoring));
});
