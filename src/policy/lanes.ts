/** As many lanes as threads: the first in this thread, the others each in one of their own. */

import type { Data } from "../graph/session.ts";
import { completionText } from "./completion.ts";
import type { GeneratedToken, GenerateOptions, Generation, GenerationRequest } from "./generate.ts";
import { type Bound, Lane, type LaneMethod, type LaneSetup } from "./lane.ts";
import { RemoteLane } from "./remote-lane.ts";

type AnyLane = Pick<Lane, LaneMethod>;

/** Names of the vectors that policies and engines put there. */
export const VECTORS = {
  policy: "policy",
  reference: "reference",
  adapters: "adapters",
} as const;

/** From this many parameters on, the runtime's threads share every product, and weights exist once. */
const LARGE = 16_000_000;

/** Calls that a lane in another thread has before it, so that it need not wait for this thread. */
const AHEAD = 2;

/** Completions of a share that is given out as a whole, for each place; more lose less at its end. */
const TURNS = 4;

export class Lanes {
  readonly count: number;
  /** Of the runtime within each lane. */
  readonly threads: number;
  readonly #setup: LaneSetup;
  readonly #lanes: AnyLane[] = [];
  /** What every lane has to know; a lane that is made later catches up. */
  readonly #vectors = new Map<string, Float32Array>();
  readonly #graphs = new Map<string, Parameters<Lane["open"]>>();
  #closed = false;

  constructor(setup: LaneSetup) {
    const { placed, threads } = setup;
    const size = placed.reduce((sum, parameter) => sum + parameter.size, 0);
    this.count = size < LARGE ? Math.max(1, threads) : 1;
    this.threads = size < LARGE ? 1 : threads;
    this.#setup = { ...setup, threads: this.threads };
  }

  /** Replaces a vector of weights in every lane. */
  put(name: string, vector: Float32Array): void {
    this.#vectors.set(name, vector);
    for (const lane of this.#lanes) lane.put(name, vector).catch(ignored);
  }

  /** Makes a graph known under a key. */
  async open(...graph: Parameters<Lane["open"]>): Promise<void> {
    this.#graphs.set(graph[0], graph);
    await Promise.all(this.#lanes.map((lane) => lane.open(...graph)));
  }

  async drop(key: string): Promise<void> {
    this.#graphs.delete(key);
    await Promise.all(this.#lanes.map((lane) => lane.drop(key)));
  }

  /** Runs a graph once for each of the feeds, which are made when needed; results come in their order. */
  run(
    key: string,
    feeds: readonly (() => Readonly<Record<string, Data>>)[],
    bound: readonly Bound[],
  ): AsyncGenerator<Record<string, Data>> {
    return this.#share(feeds, (lane, make) => lane.run(key, make(), bound));
  }

  /** Completions in the order of the requests. */
  async sample(...args: Parameters<Lanes["each"]>): Promise<Generation[]> {
    const size = Math.ceil(args[1].length / this.count);
    const generations: Generation[] = [];
    for await (const one of this.#sampled(size, ...args)) generations.push(one);
    return generations;
  }

  /** The same, while others are still being sampled. */
  each(
    vector: string,
    requests: readonly GenerationRequest[],
    options: Omit<GenerateOptions, "parameters">,
  ): AsyncGenerator<Generation> {
    const size = Math.min(TURNS * this.#setup.places, Math.ceil(requests.length / this.count));
    return this.#sampled(size, vector, requests, options);
  }

  /** The same, token by token, in this thread. */
  steps(...args: Parameters<Lanes["each"]>): AsyncGenerator<readonly GeneratedToken[]> {
    return this.#first().steps(...args);
  }

  /** Divides requests into shares of a size. */
  async *#sampled(
    size: number,
    ...[vector, requests, { tokenizer, ...options }]: Parameters<Lanes["each"]>
  ): AsyncGenerator<Generation> {
    // A tokenizer cannot go to another thread, and stop texts need it at every token.
    if (this.count === 1 || options.sampling.stop.length > 0) {
      yield* this.#first().each(vector, requests, { ...options, tokenizer });
      return;
    }
    const shares: (readonly GenerationRequest[])[] = [];
    for (let at = 0; at < requests.length; at += size) shares.push(requests.slice(at, at + size));
    const { endTokens } = tokenizer;
    const withoutTexts = { ...options, tokenizer: { endTokens } };
    for await (const share of this.#share(shares, (lane, own) =>
      lane.sample(vector, own, withoutTexts),
    )) {
      for (const one of share) yield { ...one, completion: completionText(tokenizer, one.tokens) };
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#lanes.map((lane) => lane.close()));
    this.#lanes.length = 0;
  }

  /**
   * Lane `i` of `n` gets every n-th item, and results come in the order of the items. The lane of this
   * thread gets an item when all before it are done, because it blocks the thread.
   */
  async *#share<I, T>(
    items: readonly I[],
    call: (lane: AnyLane, item: I) => Promise<T>,
  ): AsyncGenerator<T> {
    const used = Math.min(this.count, items.length);
    const answers = new Map<number, Promise<T>>();
    const give = (i: number) => {
      const answer = call(this.#lane(i % used), items[i] as I);
      // Only the first failure is seen; the others must not end the process.
      answer.catch(ignored);
      answers.set(i, answer);
    };
    let next = 0;
    for (let i = 0; i < items.length; i++) {
      for (; next < Math.min(items.length, i + AHEAD * used); next++) {
        if (next % used !== 0) give(next);
      }
      if (i % used === 0) give(i);
      yield await (answers.get(i) as Promise<T>);
      answers.delete(i);
    }
  }

  #first(): Lane {
    return this.#lane(0) as Lane;
  }

  #lane(at: number): AnyLane {
    if (this.#closed) throw new Error("these lanes are closed");
    while (this.#lanes.length <= at) {
      const lane = this.#lanes.length === 0 ? new Lane(this.#setup) : new RemoteLane(this.#setup);
      for (const [name, vector] of this.#vectors) lane.put(name, vector).catch(ignored);
      for (const graph of this.#graphs.values()) lane.open(...graph).catch(ignored);
      this.#lanes.push(lane);
    }
    return this.#lanes[at] as AnyLane;
  }
}

/** Of a call that nobody waits for: the next one fails as well. */
function ignored(): void {}
