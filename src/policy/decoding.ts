/** A batch that is being decoded, token by token, with a cache that grows. */

import type { Data, Session } from "../graph/session.ts";
import type { Cache } from "./cache.ts";
import { stepLength } from "./cache.ts";

/** The cache grows in steps, because the cost of a token is proportional to its size. */
const GROWTH = 1.5;

export interface Begun {
  readonly rows: number;
  readonly weights: Readonly<Record<string, Data>>;
  /** The graph for one more token, with this many cached positions. */
  readonly stepper: (places: number) => Promise<Session>;
  /** Of the next token of each row. */
  readonly positions: number[];
  /** After the prompts. */
  readonly logits: Float32Array;
  readonly cache: Cache;
  /** Called when the cache is free again. */
  readonly release: () => void;
}

/** Computes a token for each row, always in the same memory. */
interface Step {
  readonly run: () => Promise<unknown>;
  readonly results: ReturnType<Session["results"]>;
}

export class Decoding {
  readonly #begun: Begun;
  /** Overwritten for every token; the runtime reads them in place. */
  readonly #tokens: BigInt64Array;
  readonly #places: BigInt64Array;
  #step: Step | undefined;
  #ended = false;

  constructor(begun: Begun) {
    this.#begun = begun;
    this.#tokens = new BigInt64Array(begun.rows);
    this.#places = new BigInt64Array(begun.rows);
  }

  /** The logits of a row's next token: a view that every `append` overwrites. */
  row(index: number): Float32Array {
    const { logits, rows } = this.#begun;
    const vocabulary = logits.length / rows;
    return logits.subarray(index * vocabulary, (index + 1) * vocabulary);
  }

  /** Appends one token to each row; below 0 the row has ended, and its logits have no meaning. */
  async append(tokens: readonly number[]): Promise<void> {
    if (this.#ended)
      throw new Error("this decoding has ended, and its memory may be in use by another");
    const { cache, positions } = this.#begun;
    const places = tokens.map((token, row) => (token < 0 ? -1 : (positions[row] as number)));
    const { run, results } = await this.#roomFor(Math.max(...places) + 1);
    for (const [row, token] of tokens.entries()) {
      this.#tokens[row] = BigInt(Math.max(token, 0));
      this.#places[row] = BigInt(Math.max(places[row] as number, 0));
      if (token >= 0) positions[row] = (positions[row] as number) + 1;
    }
    await run();
    cache.append(results.fresh?.data as Float32Array, places);
  }

  /** Frees the memory for the next batch; nothing can be appended any more. */
  end(): void {
    if (!this.#ended) this.#begun.release();
    this.#ended = true;
  }

  async #roomFor(length: number): Promise<Step> {
    const { rows, weights, cache, stepper, logits } = this.#begun;
    if (length > cache.capacity) throw new Error(`there is room for ${cache.capacity} tokens only`);
    if (length > cache.places) {
      cache.widen(Math.min(stepLength(Math.max(length, cache.places * GROWTH)), cache.capacity));
    } else if (this.#step) return this.#step;
    const session = await stepper(cache.places);
    const results = this.#step?.results ?? {
      ...session.results(),
      logits: session.tensor(logits, [rows, logits.length / rows]),
    };
    const feeds = {
      ...{ ...weights, ...cache.arrays },
      ...{ tokens: this.#tokens, positions: this.#places },
    };
    this.#step = { run: session.repeatedly(feeds, results), results };
    return this.#step;
  }
}
