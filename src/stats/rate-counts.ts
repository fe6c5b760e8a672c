/** A pass rate with its interval, over rows or over several samples of each example. */

import type { Coordinate } from "../core/rng.ts";
import { ClusterCounts } from "./cluster-counts.ts";
import { MeanInterval } from "./mean-interval.ts";
import { pairedBootstrap } from "./paired.ts";
import { wilsonInterval } from "./wilson.ts";

/** The seed is fixed, so that the same rows always give the same interval. */
const SEED: Coordinate = "lockedroom.rate@1";

export interface RateRow {
  readonly reward: number | null;
  readonly passed: boolean;
  /** The number of the sample; absent where each example has one row. */
  readonly sample?: number | undefined;
}

export class RateCounts {
  rows = 0;
  scored = 0;
  passed = 0;
  #rewards = 0;
  /** Of repeated samples: the passes of each example. */
  #clusters: ClusterCounts | undefined;
  #open = { passed: 0, size: 0 };
  readonly #mean = new MeanInterval();
  /** Some reward is neither 0 nor 1, or is not what passes. */
  graded = false;

  /** Samples of one example follow each other. */
  add({ reward, passed, sample }: RateRow): void {
    this.rows++;
    if (sample === 0) this.#close();
    if ((sample ?? 0) === 0) this.#mean.next();
    if (reward === null) return;
    // A reward that is not the pass has a mean of its own.
    if (reward !== Number(passed)) this.graded = true;
    this.#mean.add(reward);
    this.scored++;
    this.#rewards += reward;
    if (passed) this.passed++;
    if (sample === undefined) return;
    this.#clusters ??= new ClusterCounts();
    this.#open.size++;
    if (passed) this.#open.passed++;
  }

  get rate(): number | null {
    return this.scored === 0 ? null : this.passed / this.scored;
  }

  get meanReward(): number | null {
    return this.scored === 0 ? null : this.#rewards / this.scored;
  }

  /** Of the mean reward; null where every reward is 0 or 1 by its pass, so that the mean is the pass rate. */
  meanInterval(): [low: number, high: number] | null {
    return this.graded ? this.#mean.interval() : null;
  }

  /**
   * Wilson's interval; with several samples of an example, which are not independent, the bootstrap
   * interval over examples, or Wilson's for as many rows as examples where all samples agree.
   */
  interval(): [low: number, high: number] | null {
    this.#close();
    const clusters = this.#clusters;
    if (!clusters || clusters.clusters === clusters.rows)
      return wilsonInterval(this.passed, this.scored) ?? null;
    const n = clusters.clusters;
    if (this.passed === 0 || this.passed === this.scored)
      return wilsonInterval(this.passed === 0 ? 0 : n, n) ?? null;
    const found = pairedBootstrap(clusters.influences(), { seed: SEED });
    return found ? [Math.max(0, found.low), Math.min(1, found.high)] : null;
  }

  #close(): void {
    const { passed, size } = this.#open;
    if (size === 0) return;
    this.#clusters?.add(passed, size);
    this.#open = { passed: 0, size: 0 };
  }
}
