/**
 * The pass rate of one run of a verdict with its interval. Where the gate compared whole prompts, the
 * interval is over prompts as well, because rows of one prompt are not independent.
 */

import { normalisedPrompt, promptFingerprint } from "../../core/prompt-fingerprint.ts";
import { hasPassed } from "../../core/score.ts";
import { isClustered } from "../../gate/words.ts";
import type { GateReport } from "../../runs/gate-report.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import { ClusterCounts } from "../../stats/cluster-counts.ts";
import { pairedBootstrap } from "../../stats/paired.ts";
import { wilsonInterval } from "../../stats/wilson.ts";

/** The seed is fixed, so that the same rows always give the same interval. */
const SEED = "lockedroom.rate@1";

export interface RateEstimate {
  readonly rate: number | undefined;
  readonly interval: readonly [low: number, high: number] | undefined;
  /** How the interval was found. */
  readonly method: string;
}

export class RateOfPrompts {
  readonly #isClustered: boolean;
  #scored = 0;
  #passed = 0;
  readonly #prompts = new Map<string, { passed: number; size: number }>();

  constructor({ test }: Pick<GateReport, "test">) {
    this.#isClustered = isClustered(test);
  }

  add({ prompt, ...row }: ResultRow): void {
    if (row.reward === null) return;
    const passed = hasPassed(row) ? 1 : 0;
    this.#scored++;
    this.#passed += passed;
    if (!this.#isClustered) return;
    const key = promptFingerprint(normalisedPrompt(prompt));
    const counts = this.#prompts.get(key) ?? { passed: 0, size: 0 };
    this.#prompts.set(key, counts);
    counts.passed += passed;
    counts.size++;
  }

  get estimate(): RateEstimate {
    const [scored, passed] = [this.#scored, this.#passed];
    const rate = scored === 0 ? undefined : passed / scored;
    if (!this.#isClustered)
      return { rate, interval: wilsonInterval(passed, scored), method: "Wilson" };
    const n = this.#prompts.size;
    // Resampling what is all alike gives no width.
    if (passed === 0 || passed === scored) {
      const interval = wilsonInterval(passed === 0 ? 0 : n, n);
      return { rate, interval, method: `Wilson, ${n} prompts` };
    }
    const clusters = new ClusterCounts();
    for (const { passed: sum, size } of this.#prompts.values()) clusters.add(sum, size);
    const found = pairedBootstrap(clusters.influences(), { seed: SEED });
    return {
      rate,
      interval: found && [Math.max(0, found.low), Math.min(1, found.high)],
      method: `bootstrap over ${n} prompts`,
    };
  }
}
