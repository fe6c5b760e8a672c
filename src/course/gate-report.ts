/** Whether two reports of the gate say the same of the same runs. */

import { canonicalJson } from "../core/index.ts";
import type { GateReport } from "../runs/index.ts";

/** Where the runs lay, and resampled bounds, may differ; what was decided and why may not. */
export function sameVerdict(a: GateReport, b: GateReport): boolean {
  return verdict(a) === verdict(b);
}

function verdict({ decision, comparable, knobs, claim, reasons, delta }: GateReport): string {
  return canonicalJson({ decision, comparable, knobs, claim, reasons, delta });
}
