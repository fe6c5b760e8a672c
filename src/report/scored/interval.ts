/** The interval of a run's pass rate. */

import { wilsonInterval } from "../../stats/wilson.ts";
import type { ScoredRun } from "./read.ts";

/** From the rows; where an example has several samples, that of the summary, which is over examples. */
export function passInterval({
  passed,
  scored,
  summary: { metrics },
}: Pick<ScoredRun, "passed" | "scored" | "summary">): [number, number] | undefined {
  if (metrics.repeats !== undefined) return metrics.pass_rate_ci95 ?? undefined;
  return wilsonInterval(passed, scored);
}
