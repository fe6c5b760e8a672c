/** The other side of the pool: scores each batch it is sent, and answers in order. */

import { parentPort, workerData } from "node:worker_threads";
import { dataError, type LockedRoomError, messageOf } from "../core/errors.ts";
import type { ScoreRequest } from "../core/score.ts";
import { countProgressIn } from "../extensions/score-watch.ts";
import { Guard } from "./guard.ts";
import { loadScorer } from "./load.ts";
import type { FromThread, ThreadOptions } from "./open.ts";

const { progress, ...options } = workerData as ThreadOptions & { progress: SharedArrayBuffer };
const { scorer, timeoutMs, concurrency, source_sha256, loadTimeoutMs } = options;
countProgressIn(progress);
const tell = (message: FromThread) => parentPort?.postMessage(message);

try {
  const loaded = await loadScorer(scorer, { limitMs: loadTimeoutMs });
  if (loaded.identity.source_sha256 !== source_sha256)
    throw dataError(`the scorer ${scorer} changed while it was opened`, "Run the command again.");
  const guard = new Guard(loaded, timeoutMs, concurrency);
  let previous: Promise<unknown> = Promise.resolve();
  parentPort?.on("message", (batch: ScoreRequest[]) => {
    const scoring = guard.scoreBatch(batch);
    previous = previous.then(async () => tell({ scored: await scoring }));
  });
  tell({ ready: true });
} catch (error) {
  const { hint } = error as LockedRoomError;
  tell({ failed: messageOf(error), hint });
}
