/** The rows that are being decoded, one in each place, with a cache that grows. */

import type { Data, Session } from "../graph/session.ts";
import { type Cache, pairsOf } from "./cache.ts";
import type { Scores } from "./decoder-graphs.ts";
import { roundedLength } from "./graph-sizes.ts";
import type { Prompts } from "./prompts.ts";

/** The cache grows in steps, by half and by this many tokens at least: a token's cost grows with it. */
const GROWTH = 1.5;
const LEAST_GROWTH = 16;

export interface Begun {
  readonly weights: Readonly<Record<string, Data>>;
  /** What a row gives. */
  readonly scores: Scores;
  readonly vocabulary: number;
  readonly prompts: Prompts;
  /** As many rows as there are places at first. */
  readonly cache: Cache;
  /** The graph for one more token in each of these rows, with room for this many earlier ones. */
  readonly stepper: (rows: number, room: number) => Promise<Session>;
  /** Called when the cache is free again. */
  readonly release: () => void;
}

/** Computes a token for each row, always in the same memory. */
interface Step {
  readonly run: () => Promise<unknown>;
  /** New keys and values, in pairs. */
  readonly fresh: Float64Array;
}

export class Decoding {
  readonly #begun: Begun;
  /** Of the next token of each row. */
  readonly #positions: number[];
  readonly #scores: Float32Array;
  /** Views of them, made once: making one takes longer than sampling a token. */
  readonly #rows: readonly Float32Array[];
  /** Overwritten for every token; the runtime reads them in place. */
  readonly #fedTokens: BigInt64Array;
  readonly #fedPositions: BigInt64Array;
  #step: Step | undefined;
  #ended = false;

  constructor(begun: Begun) {
    const { cache, vocabulary } = begun;
    this.#begun = begun;
    this.#positions = Array(cache.rows).fill(0);
    this.#scores = new Float32Array(cache.rows * vocabulary);
    this.#rows = Array.from({ length: cache.rows }, (_, row) =>
      this.#scores.subarray(row * vocabulary, (row + 1) * vocabulary),
    );
    this.#fedTokens = new BigInt64Array(cache.rows);
    this.#fedPositions = new BigInt64Array(cache.rows);
  }

  /** How many places there are now. */
  get places(): number {
    return this.#begun.cache.rows;
  }

  /** The scores of a row's next token: a view that every `append` overwrites. */
  row(place: number): Float32Array {
    return this.#rows[place] as Float32Array;
  }

  /** Begins a new row with the prompt of this index; the one before it is forgotten. */
  async put(place: number, index: number): Promise<void> {
    const { cache, prompts, scores } = this.#begun;
    const prompt = await prompts.of(index);
    this.#makeRoom(prompt.length);
    cache.put(place, prompt);
    this.#positions[place] = prompt.length;
    this.row(place).set(prompt.next[scores]);
  }

  /** Moves a row to another place. */
  move(from: number, to: number): void {
    this.#begun.cache.move(from, to);
    this.#positions[to] = this.#positions[from] as number;
    this.row(to).set(this.row(from));
  }

  /** Only this many places remain: the first ones. */
  shrink(places: number): void {
    this.#begun.cache.rows = places;
    this.#step = undefined;
  }

  /** Appends one token to each row; below 0 the place is empty, and its scores have no meaning. */
  async append(tokens: readonly number[]): Promise<void> {
    if (this.#ended)
      throw new Error("this decoding has ended, and its memory may be in use by another");
    const { cache } = this.#begun;
    const positions = tokens.map((token, row) =>
      token < 0 ? -1 : (this.#positions[row] as number),
    );
    this.#makeRoom(Math.max(...positions) + 1);
    for (const [row, token] of tokens.entries()) {
      this.#fedTokens[row] = BigInt(Math.max(token, 0));
      this.#fedPositions[row] = BigInt(Math.max(positions[row] as number, 0));
      if (token >= 0) this.#positions[row] = (this.#positions[row] as number) + 1;
    }
    this.#step ??= await this.#makeStep();
    await this.#step.run();
    cache.append(this.#step.fresh, positions);
  }

  /** Frees the memory for the next decoding; nothing can be appended any more. */
  end(): void {
    if (!this.#ended) this.#begun.release();
    this.#ended = true;
  }

  #makeRoom(length: number): void {
    const { cache } = this.#begun;
    if (length > cache.capacity) throw new Error(`there is room for ${cache.capacity} tokens only`);
    if (length <= cache.room) return;
    const wanted = Math.max(length + LEAST_GROWTH, cache.room * GROWTH);
    cache.widen(Math.min(roundedLength(wanted), cache.capacity));
    this.#step = undefined;
  }

  async #makeStep(): Promise<Step> {
    const { weights, cache, stepper, scores, vocabulary } = this.#begun;
    const { rows, room } = cache;
    const session = await stepper(rows, room);
    const { fresh } = session.results();
    if (!fresh) throw new Error("the graph of a step has no keys and values");
    const given = this.#scores.subarray(0, rows * vocabulary);
    const feeds = {
      ...{ ...weights, ...cache.arrays },
      ...{
        tokens: this.#fedTokens.subarray(0, rows),
        positions: this.#fedPositions.subarray(0, rows),
      },
    };
    const into = { fresh, [scores]: session.tensor(given, [rows, vocabulary]) };
    return { run: session.repeatedly(feeds, into), fresh: pairsOf(fresh.data as Float32Array) };
  }
}
