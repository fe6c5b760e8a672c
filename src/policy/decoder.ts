/** Runs a policy: reads prompts, and decodes rows in a fixed number of places. */

import { feedsOf, inputsOf, type Placed } from "../graph/parameters.ts";
import { Session, type SessionOptions } from "../graph/session.ts";
import type { Architecture } from "./architecture.ts";
import { Cache } from "./cache.ts";
import { nextToken, type readPrompts, type Scores } from "./decoder-graphs.ts";
import { Decoding } from "./decoding.ts";
import { LEAST_ROWS, roundedLength } from "./graph-sizes.ts";
import { fittingPlaces } from "./places.ts";
import { PromptReader } from "./prompt-reader.ts";
import { Prompts } from "./prompts.ts";

/** Multiplications of a call from which more than one thread is faster. */
const WORTH_THREADS = 1e8;

/** Prompts read at a time. More take more memory, and are not read faster. */
const READ_TOGETHER = 16;

/** What one decoding at a time uses. */
interface Memory {
  readonly cache: Cache;
  readonly reader: PromptReader;
}

export interface DecoderOptions extends SessionOptions {
  /** How many rows are decoded at a time, each in its place; rows do not depend on it. */
  readonly batch: number;
}

export interface Beginning {
  /** Of all rows that are to be decoded, not all of them at once. */
  readonly prompts: readonly (readonly number[])[];
  /** The length of the longest text, prompt included. */
  readonly room: number;
  readonly scores?: Scores;
}

export class Decoder {
  readonly batch: number;
  readonly #places: number;
  readonly #architecture: Architecture;
  readonly #placed: readonly Placed[];
  readonly #options: SessionOptions;
  readonly #sessions = new Map<string, Promise<Session>>();
  /** Of a decoding that has ended; reused because allocating memory takes time. */
  #spare: Memory | undefined;

  constructor(
    architecture: Architecture,
    placed: readonly Placed[],
    { batch, ...options }: DecoderOptions,
  ) {
    this.batch = batch;
    this.#places = Math.max(batch, LEAST_ROWS);
    this.#architecture = architecture;
    this.#placed = placed;
    this.#options = options;
  }

  /** Nothing is in its places yet. As few are used as there are prompts. */
  begin(parameters: Float32Array, { prompts, room, scores = "logits" }: Beginning): Decoding {
    const weights = feedsOf(parameters, this.#placed);
    const memory = this.#memory(roundedLength(room));
    const { cache, reader } = memory;
    cache.begin(fittingPlaces(this.#places, prompts.length));
    const together = Math.min(this.#places, READ_TOGETHER);
    return new Decoding({
      ...{ scores, weights, cache, vocabulary: this.#architecture.vocabulary },
      prompts: new Prompts((some) => reader.read(weights, some), prompts, together),
      stepper: (rows, length) => this.#session(nextToken, rows, length, rows),
      release: () => {
        this.#spare = memory;
      },
    });
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    await Promise.allSettled(sessions.map(async (session) => (await session).close()));
    this.#sessions.clear();
  }

  #memory(capacity: number): Memory {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare && spare.cache.capacity >= capacity) return spare;
    return {
      cache: new Cache(this.#architecture, this.#places, capacity),
      reader: spare?.reader ?? new PromptReader(this.#architecture, this.#session.bind(this)),
    };
  }

  /** `tokens` is how many a call computes. */
  #session(graph: Graph, rows: number, size: number, tokens: number): Promise<Session> {
    const key = `${graph.name} ${rows} ${size}`;
    const known = this.#sessions.get(key);
    if (known) return known;
    const made = Session.create(graph(this.#architecture, inputsOf(this.#placed), rows, size), {
      ...this.#options,
      threads: this.#threadsFor(tokens),
    });
    this.#sessions.set(key, made);
    // The next call tries again.
    made.catch(() => this.#sessions.delete(key));
    return made;
  }

  #threadsFor(tokens: number): number {
    const weights = this.#placed.reduce((sum, { size }) => sum + size, 0);
    return tokens * weights < WORTH_THREADS ? 1 : (this.#options.threads ?? 1);
  }
}

/** Makes a graph for a number of rows, with a number of tokens or cached positions each. */
type Graph = typeof readPrompts;
