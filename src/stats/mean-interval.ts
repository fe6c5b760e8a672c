/** The interval of a mean reward, in constant memory: normal, over examples. */

import { normalQuantile } from "./normal-quantile.ts";

const Z = normalQuantile(0.975);

/** Sums over examples; the samples of one are not independent, so they count as a cluster. */
export class MeanInterval {
  #open = { sum: 0, size: 0 };
  #examples = 0;
  #rows = 0;
  #rewards = 0;
  #squares = 0;
  #products = 0;
  #sizes = 0;

  /** A scored sample of the present example. */
  add(reward: number): void {
    this.#open.sum += reward;
    this.#open.size++;
  }

  /** Ends the present example. */
  next(): void {
    const { sum, size } = this.#open;
    if (size === 0) return;
    this.#open = { sum: 0, size: 0 };
    this.#examples++;
    this.#rows += size;
    this.#rewards += sum;
    this.#squares += sum * sum;
    this.#products += sum * size;
    this.#sizes += size * size;
  }

  /** 95 %; null below two examples. The error is that of a ratio, the rewards over the rows. */
  interval(): [low: number, high: number] | null {
    this.next();
    const n = this.#examples;
    if (n < 2) return null;
    const mean = this.#rewards / this.#rows;
    const squares = this.#squares - 2 * mean * this.#products + mean * mean * this.#sizes;
    const half = (Z * Math.sqrt(Math.max(0, (squares * n) / (n - 1)))) / this.#rows;
    return [mean - half, mean + half];
  }
}
