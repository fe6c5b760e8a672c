/** How what rewards scores an earlier and a later policy on the validation set. */

import type { EvaluationRecord } from "../runs/train-records.ts";
import { mean } from "./trend.ts";

type Scored = Pick<EvaluationRecord, "step" | "proxy_mean" | "judge">;

/**
 * A judge's scores are relative within a group. At step 0 the initial policy is judged alone, later beside
 * the trained one: its score in the later groups is the one to compare with.
 */
export function proxyChange(
  before: Scored,
  after: readonly Scored[],
): { readonly from: number; readonly to: number } {
  const beside = after.flatMap(({ judge }) => judge?.baseline_mean ?? []);
  const isBeside = before.step === 0 && beside.length > 0 && beside.length === after.length;
  return {
    from: isBeside ? mean(beside) : before.proxy_mean,
    to: mean(after.map(({ proxy_mean }) => proxy_mean)),
  };
}
