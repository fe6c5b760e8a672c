/** The other side of the pool: judges each batch it is sent, in order. */

import { parentPort, workerData } from "node:worker_threads";
import type { ScoreRequest } from "../core/score.ts";
import { scoreBatch } from "./guard.ts";
import { loadScorer } from "./load.ts";

const { scorer, timeoutMs } = workerData as { scorer: string; timeoutMs: number };
const loaded = await loadScorer(scorer);
parentPort?.on("message", (batch: ScoreRequest[]) => {
  parentPort?.postMessage(scoreBatch(loaded, batch, timeoutMs));
});
