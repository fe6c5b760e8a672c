/** How long sampling took: facts of the occasion, in the volatile block and nowhere else. */

import { z } from "zod";
import { count } from "./schemas.ts";

const ms = z.number().min(0);

const latencySchema = z.strictObject({
  /** How many were measured. */
  n: count,
  mean_ms: ms,
  p50_ms: ms,
  p90_ms: ms,
  p99_ms: ms,
  max_ms: ms,
});

export const timingSchema = z.strictObject({
  /** From the request, or the prompt in its batch, to the whole answer; without waits before retries. */
  completions: latencySchema,
  /**
   * An example with all of its completions: as long as the slowest of them. In an environment an
   * episode: as long as its turns together.
   */
  episodes: latencySchema,
  /** Completion tokens of this process, and how long it sampled; those of a resumed part are not in it. */
  tokens: count,
  seconds: z.number().min(0),
});

export type Latency = z.infer<typeof latencySchema>;
export type Timing = z.infer<typeof timingSchema>;
