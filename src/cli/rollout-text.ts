/** What the summaries of all rollouts say: exposure, cost, timing. */

import { visibleShort } from "../core/visible.ts";
import type { RolloutSummary } from "../runs/rollout-schemas.ts";
import type { Timing } from "../runs/timing-schema.ts";
import { out } from "./terminal.ts";

export function trainedOn(
  rows: number,
  examples: number,
  ids: readonly string[],
  what = "examples",
): string {
  const some = ids.map((id) => visibleShort(id, 40)).join(", ");
  const more = rows > ids.length ? ", …" : "";
  return `The policy was trained on the prompts of ${rows} of ${examples} ${what} (${some}${more}): these completions do not measure what it learned in general. The gate will refuse a run made of them.`;
}

export function printCost(cost: RolloutSummary["cost"]): void {
  out(`  tokens: ${cost.prompt_tokens} in, ${cost.completion_tokens} out`);
  if (cost.n_uncounted > 0) out(`  ${cost.n_uncounted} completions have no token count.`);
  if (cost.total !== null) {
    const least = cost.n_uncounted > 0 ? "at least " : "";
    out(
      `  cost: ${least}${cost.total.toFixed(4)} (${cost.price_in} in, ${cost.price_out} out, per million)`,
    );
  }
}

export function printTiming(timing: Timing | undefined): void {
  // Not the same twice, so not in output that is compared; the manifest has it always.
  if (timing === undefined || !process.stdout.isTTY) return;
  const { p50_ms, p90_ms, p99_ms } = timing.completions;
  const [p50, p90, p99] = [p50_ms, p90_ms, p99_ms].map((ms) => ms.toFixed(ms < 10 ? 1 : 0));
  out(`  latency of a completion: p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms`);
  if (timing.tokens > 0 && timing.seconds > 0)
    out(`  throughput: ${(timing.tokens / timing.seconds).toFixed(0)} tokens per second`);
}
