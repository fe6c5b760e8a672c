/** Runs a policy's decoder on rows of a fixed batch: reads prompts, then gives token after token. */

import { feedsOf, inputsOf, type Placed } from "../graph/parameters.ts";
import { type Data, Session, type SessionOptions } from "../graph/session.ts";
import type { Architecture } from "./architecture.ts";
import { Cache } from "./cache.ts";
import { afterPrompts, nextToken, readPrompts } from "./cached.ts";
import { stepLength } from "./lengths.ts";

/** Room for more tokens is made in parts, because a step pays for all the room there is. */
const GROWTH = 1.25;

/** Multiplications of a call that a second thread is worth waking for; the bytes are the same. */
const WORTH_THREADS = 1e8;

export interface DecoderOptions extends SessionOptions {
  /**
   * Rows of every call. It is fixed, and unused rows are filled: the kernels then do the same
   * arithmetic for a row whatever company it has, so that batches cannot change a sample.
   */
  readonly batch: number;
}

export class Decoder {
  readonly batch: number;
  readonly #architecture: Architecture;
  readonly #placed: readonly Placed[];
  readonly #options: SessionOptions;
  readonly #sessions = new Map<string, Promise<Session>>();
  /** Of a decoding that is over: memory that was used before is there at once. */
  #spare: Cache | undefined;

  constructor(
    architecture: Architecture,
    placed: readonly Placed[],
    { batch, ...options }: DecoderOptions,
  ) {
    this.batch = batch;
    this.#architecture = architecture;
    this.#placed = placed;
    this.#options = options;
  }

  /** Reads at most `batch` prompts; `room` is how many tokens, prompt included, will be looked at. */
  async begin(
    parameters: Float32Array,
    prompts: readonly (readonly number[])[],
    room: number,
  ): Promise<Decoding> {
    const { batch } = this;
    const length = stepLength(Math.max(...prompts.map((prompt) => prompt.length)));
    const tokens = new BigInt64Array(batch * length);
    const [positions, last] = [new BigInt64Array(batch), new BigInt64Array(batch)];
    for (let row = 0; row < batch; row++) {
      const prompt = prompts[row] ?? [0];
      for (const [i, token] of prompt.entries()) tokens[row * length + i] = BigInt(token);
      positions[row] = BigInt(prompt.length - 1);
      last[row] = BigInt(row * length + prompt.length - 1);
    }
    const weights = feedsOf(parameters, this.#placed);
    const reader = await this.#session(readPrompts, length, batch * length);
    const read = await reader.run({ ...weights, tokens, last });
    const finisher = await this.#session(afterPrompts, length);
    const { logits } = await finisher.run({ ...weights, ...read, positions });
    const cache = this.#cache(stepLength(Math.max(room, length)));
    cache.fill(read as Record<string, Float32Array>, length);
    return new Decoding({
      ...{ batch, weights, cache },
      stepper: (places) => this.#session(nextToken, places, batch),
      positions: prompts.map((prompt) => prompt.length),
      logits: logits as Float32Array,
      release: () => {
        this.#spare = cache;
      },
    });
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) await (await session).close();
    this.#sessions.clear();
  }

  #cache(capacity: number): Cache {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare?.capacity !== capacity) return new Cache(this.#architecture, this.batch, capacity);
    spare.clear();
    return spare;
  }

  /** `tokens` is how many a call computes, where it may use more than one thread. */
  #session(graph: Graph, size: number, tokens = 0): Promise<Session> {
    const key = `${graph.name} ${size}`;
    const known = this.#sessions.get(key);
    if (known) return known;
    const weights = this.#placed.reduce((sum, placed) => sum + placed.size, 0);
    const threads = tokens * weights < WORTH_THREADS ? 1 : this.#options.threads;
    const made = Session.create(
      graph(this.#architecture, inputsOf(this.#placed), this.batch, size),
      { ...this.#options, ...(threads === undefined ? {} : { threads }) },
    );
    this.#sessions.set(key, made);
    return made;
  }
}

/** One of those that a batch with so many tokens or places needs. */
type Graph = typeof readPrompts;

interface Begun {
  readonly batch: number;
  readonly weights: Readonly<Record<string, Data>>;
  /** The graph for one more token, with so many places before it. */
  readonly stepper: (places: number) => Promise<Session>;
  /** Where the next token of each row goes. */
  readonly positions: number[];
  /** After the prompts. */
  readonly logits: Float32Array;
  readonly cache: Cache;
  /** Says that the cache is needed no more. */
  readonly release: () => void;
}

/** Computes a token for each row, over memory that stays where it is. */
interface Step {
  readonly run: () => Promise<unknown>;
  readonly results: ReturnType<Session["results"]>;
}

/** A batch in the middle of its completions. */
export class Decoding {
  readonly #begun: Begun;
  /** Written anew for every token; the runtime reads them where they are. */
  readonly #tokens: BigInt64Array;
  readonly #places: BigInt64Array;
  #step: Step | undefined;

  constructor(begun: Begun) {
    this.#begun = begun;
    this.#tokens = new BigInt64Array(begun.batch);
    this.#places = new BigInt64Array(begun.batch);
  }

  /** The logits of a row's next token: a view that every `append` fills anew. */
  row(index: number): Float32Array {
    const { logits, batch } = this.#begun;
    const vocabulary = logits.length / batch;
    return logits.subarray(index * vocabulary, (index + 1) * vocabulary);
  }

  /** Appends one token to each row; below 0 the row has ended, and its logits mean nothing. */
  async append(tokens: readonly number[]): Promise<void> {
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

  /** Lets the next batch have the memory; nothing can be appended any more. */
  end(): void {
    this.#begun.release();
  }

  async #roomFor(length: number): Promise<Step> {
    const { batch, weights, cache, stepper, logits } = this.#begun;
    if (length > cache.capacity) throw new Error(`there is room for ${cache.capacity} tokens only`);
    if (length > cache.places) {
      cache.widen(Math.min(stepLength(Math.max(length, cache.places * GROWTH)), cache.capacity));
    } else if (this.#step) return this.#step;
    const session = await stepper(cache.places);
    const results = this.#step?.results ?? {
      ...session.results(),
      logits: session.tensor(logits, [batch, logits.length / batch]),
    };
    const feeds = {
      ...{ ...weights, ...cache.arrays },
      ...{ tokens: this.#tokens, positions: this.#places },
    };
    this.#step = { run: session.repeatedly(feeds, results), results };
    return this.#step;
  }
}
