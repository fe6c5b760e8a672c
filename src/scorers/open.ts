/** Opens a scorer for use by the loops: guarded, and with threads or concurrent calls if wanted. */

import { Worker } from "node:worker_threads";
import { dataError, usageError } from "../core/errors.ts";
import type { ExampleFields } from "../core/records.ts";
import type { CheckedScore, GuardedScorer, ScoreRequest, Scorer } from "../core/score.ts";
import { LOAD_LIMIT_MS, LoadTimeout } from "../extensions/load-limit.ts";
import { strayFailure } from "../extensions/module.ts";
import { HungScorer, watchThread } from "../extensions/score-watch.ts";
import { notTried, TimeoutCount } from "./answer.ts";
import { Guard } from "./guard.ts";
import { LONGEST_MS } from "./limits.ts";
import { DEFAULT_SCORER, type LoadedScorer, loadScorer } from "./load.ts";

/**
 * How a scorer is called. Its scores depend on none of these, unless it runs over the limit.
 * @see {@link openScorer}
 */
export interface OpenScorerOptions {
  /** Threads, for a scorer that computes; 1 scores in this one. Not for scorer objects. */
  readonly jobs?: number | undefined;
  /** Rows in flight at once, for a scorer that returns promises; at least one for each thread. */
  readonly concurrency?: number | undefined;
  /** Limit for one row in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Limit for loading the scorer's file in milliseconds; 10,000 if absent. */
  readonly loadTimeoutMs?: number | undefined;
  /**
   * Batches have nothing to do with each other, as those of a server's clients: none waits for an
   * earlier one, and rows over the limit do not end the scorer's use.
   */
  readonly independent?: boolean | undefined;
}

/**
 * A built-in's name, a file that exports a scorer, a scorer object, or a scorer that is open.
 * @see {@link evaluate}
 */
export type AnyScorer<F extends object = ExampleFields> = string | Scorer<F> | GuardedScorer;

export const DEFAULT_TIMEOUT_MS = 1000;
export const DEFAULT_CONCURRENCY = 8;

/**
 * Opens a scorer by built-in name, file or object. Close it when done.
 * @example
 * ```ts
 * import { openScorer } from "lockedroom";
 * const scorer = await openScorer("math_final_line", { timeoutMs: 500 });
 * const [score] = await scorer.scoreBatch([
 *   { example: { id: "a", prompt: "Compute 2 + 2.", expected_answer: 4 }, completion: "Final: 4" },
 * ]);
 * console.log(score?.reward, score?.code, scorer.identity.source_sha256);
 * await scorer.close();
 * ```
 */
export async function openScorer<F extends object>(
  given: string | Scorer<F> = DEFAULT_SCORER,
  options: OpenScorerOptions = {},
): Promise<GuardedScorer> {
  const { jobs = 1, timeoutMs = DEFAULT_TIMEOUT_MS, concurrency = DEFAULT_CONCURRENCY } = options;
  const { loadTimeoutMs = LOAD_LIMIT_MS } = options;
  requireCount("jobs", jobs);
  requireCount("concurrency", concurrency);
  requireTimeout("timeoutMs", timeoutMs);
  requireTimeout("loadTimeoutMs", loadTimeoutMs);
  const loaded = await loadScorer(given, { limitMs: loadTimeoutMs });
  const atOnce = Math.max(1, Math.floor(concurrency / jobs));
  const limitMs = loaded.ownLimit ? LONGEST_MS : timeoutMs;
  const guard = new Guard(loaded, limitMs, loaded.ownLimit ? concurrency : atOnce);
  const calls =
    jobs > 1 && !loaded.ownLimit
      ? openPool(
          {
            ...{ scorer: nameOf(given, loaded), timeoutMs, concurrency: atOnce, loadTimeoutMs },
            source_sha256: loaded.identity.source_sha256,
          },
          jobs,
        )
      : {
          scoreBatch: (batch: readonly ScoreRequest[]) => guard.scoreBatch(batch),
          async close() {},
        };
  const breaker = new Breaker(limitMs);
  return {
    identity: loaded.identity,
    concurrency: jobs,
    timeoutMs,
    ...(loaded.trusted && { builtIn: true }),
    scoreBatch:
      loaded.trusted || options.independent
        ? calls.scoreBatch
        : (batch) => breaker.run(batch, calls.scoreBatch),
    async close() {
      await calls.close();
      await loaded.close?.();
    },
  };
}

function requireCount(option: string, value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return;
  throw usageError(`\`${option}\` must be a whole number from 1, not ${String(value)}`);
}

function requireTimeout(option: string, value: unknown): void {
  if (typeof value === "number" && value > 0 && value <= LONGEST_MS) return;
  throw usageError(
    `\`${option}\` must be a number above 0 and at most ${LONGEST_MS}, a day, not ${String(value)}`,
  );
}

/** Opens the scorer for as long as `work` takes; one that is open already stays open. */
export async function withScorer<T, F extends object>(
  given: AnyScorer<F> | undefined,
  options: OpenScorerOptions,
  work: (scorer: GuardedScorer) => Promise<T>,
): Promise<T> {
  if (typeof given === "object" && given !== null && "scoreBatch" in given) return work(given);
  const scorer = await openScorer(given, options);
  try {
    return await work(scorer);
  } finally {
    await scorer.close();
  }
}

/** What a thread can find the scorer by. */
function nameOf(given: string | object, { trusted, identity }: LoadedScorer): string {
  if (typeof given === "string") return given;
  if (trusted) return identity.name;
  throw usageError(
    "a scorer object cannot be sent to threads",
    "Pass the file that exports it, or leave `jobs` out.",
  );
}

/** Stops trying a hung scorer after a few rows, counted in row order over all batches. */
class Breaker {
  readonly #timeouts: TimeoutCount;
  #previous: Promise<unknown> = Promise.resolve();

  constructor(timeoutMs: number) {
    this.#timeouts = new TimeoutCount(timeoutMs);
  }

  async run(
    batch: readonly ScoreRequest[],
    scoreBatch: (batch: readonly ScoreRequest[]) => Promise<CheckedScore[]>,
  ): Promise<CheckedScore[]> {
    const previous = this.#previous;
    const scoring = this.#timeouts.tripped ? batch.map(notTried) : scoreBatch(batch);
    const settled = Promise.all([scoring, previous]).then(([scored]) =>
      scored.map((row) => this.#timeouts.count(row)),
    );
    this.#previous = settled.catch(() => {});
    return settled;
  }
}

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
  readonly loadTimeoutMs: number;
  /** What the scorer was when it was opened; a thread must find the same. */
  readonly source_sha256: string;
}

/** What a thread says. */
export type FromThread =
  | { readonly ready: true }
  | { readonly scored: CheckedScore[] }
  | { readonly failed: string; readonly hint: string | undefined };

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

/** A thread loads the scorer twice, and what it is told after its limits is not waited for. */
const LOADS = 2;
const GRACE_MS = 1000;

function openLane(options: ThreadOptions): Lane {
  const { scorer, timeoutMs, loadTimeoutMs } = options;
  const watch = watchThread(
    timeoutMs,
    () => ready && lane.waiting.length > 0,
    () => end(new HungScorer(scorer, timeoutMs)),
  );
  const workerData = { ...options, progress: watch.memory };
  const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData });
  const lane: Lane = { worker, waiting: [] };
  let ready = false;
  const fail = (error: Error) => {
    clearTimeout(limit);
    watch.stop();
    lane.lost ??= error;
    for (const { reject } of lane.waiting.splice(0)) reject(error);
  };
  const end = (error: Error) => {
    fail(error);
    void worker.terminate();
  };
  const limit = setTimeout(
    () => end(new LoadTimeout("scorer", scorer, loadTimeoutMs)),
    LOADS * loadTimeoutMs + GRACE_MS,
  ).unref();
  worker.on("message", (said: FromThread) => {
    clearTimeout(limit);
    ready = true;
    if ("scored" in said) lane.waiting.shift()?.resolve(said.scored);
    if ("failed" in said) fail(dataError(said.failed, said.hint));
  });
  worker.on("error", (error) => fail(strayFailure(error)));
  worker.on("exit", () =>
    fail(dataError("the scorer ended its thread", "A scorer must not call process.exit.")),
  );
  return lane;
}
