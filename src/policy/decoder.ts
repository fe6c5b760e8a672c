/** Runs a policy on a fixed batch of rows: computes prompts, each once, and begins a decoding. */

import { feedsOf, inputsOf, type Placed } from "../graph/parameters.ts";
import { Session, type SessionOptions } from "../graph/session.ts";
import type { Architecture } from "./architecture.ts";
import { Cache, copyRows, stepLength } from "./cache.ts";
import { afterPrompts, nextToken, readPrompts } from "./decoder-graphs.ts";
import { Decoding } from "./decoding.ts";

/** Multiplications of a call from which more than one thread is faster. */
const WORTH_THREADS = 1e8;

const LEAST_ROWS = 2;

export interface DecoderOptions extends SessionOptions {
  /**
   * Rows of every call. It is fixed, and unused rows are filled: the kernels then do the same
   * arithmetic for a row whatever else is in the batch (batch-invariant).
   */
  readonly batch: number;
}

export class Decoder {
  readonly batch: number;
  /** At least two, because a single row is multiplied by kernels that round differently. */
  readonly #rows: number;
  readonly #architecture: Architecture;
  readonly #placed: readonly Placed[];
  readonly #options: SessionOptions;
  readonly #sessions = new Map<string, Promise<Session>>();
  /** The cache of a decoding that has ended, reused because allocating memory takes time. */
  #spare: Cache | undefined;

  constructor(
    architecture: Architecture,
    placed: readonly Placed[],
    { batch, ...options }: DecoderOptions,
  ) {
    this.batch = batch;
    this.#rows = Math.max(batch, LEAST_ROWS);
    this.#architecture = architecture;
    this.#placed = placed;
    this.#options = options;
  }

  /** Takes at most `batch` prompts; `room` is the length of the longest text, prompt included. */
  async begin(
    parameters: Float32Array,
    prompts: readonly (readonly number[])[],
    room: number,
  ): Promise<Decoding> {
    const length = stepLength(Math.max(...prompts.map((prompt) => prompt.length)));
    const { distinct, promptOf } = eachOnce(prompts);
    const weights = feedsOf(parameters, this.#placed);
    const read = await this.#read(weights, distinct, length);
    const cache = this.#cache(stepLength(Math.max(room, length)));
    cache.fill(read, promptOf, length);
    const { vocabulary } = this.#architecture;
    const logits = new Float32Array(this.#rows * vocabulary);
    copyRows(read.logits as Float32Array, logits, promptOf, vocabulary);
    return new Decoding({
      ...{ rows: this.#rows, weights, cache, logits },
      stepper: (places) => this.#session(nextToken, this.#rows, places, this.#rows),
      positions: prompts.map((prompt) => prompt.length),
      release: () => {
        this.#spare = cache;
      },
    });
  }

  /** Keys and values of every layer, and the logits after the last token. */
  async #read(
    weights: Record<string, Float32Array>,
    prompts: readonly (readonly number[])[],
    length: number,
  ): Promise<Record<string, Float32Array>> {
    // A power of two, so that few graphs are needed.
    const fitting = 2 ** Math.ceil(Math.log2(Math.max(prompts.length, LEAST_ROWS)));
    const rows = Math.min(fitting, this.#rows);
    const tokens = new BigInt64Array(rows * length);
    const [positions, last] = [new BigInt64Array(rows), new BigInt64Array(rows)];
    for (let row = 0; row < rows; row++) {
      const prompt = prompts[row] ?? [0];
      for (const [i, token] of prompt.entries()) tokens[row * length + i] = BigInt(token);
      positions[row] = BigInt(prompt.length - 1);
      last[row] = BigInt(row * length + prompt.length - 1);
    }
    const reader = await this.#session(readPrompts, rows, length, rows * length);
    const read = await reader.run({ ...weights, tokens, last });
    const finisher = await this.#session(afterPrompts, rows, length, rows);
    const finished = await finisher.run({ ...weights, ...read, positions });
    return { ...read, ...finished } as Record<string, Float32Array>;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) await (await session).close();
    this.#sessions.clear();
  }

  #cache(capacity: number): Cache {
    const spare = this.#spare;
    this.#spare = undefined;
    if (!spare || spare.capacity < capacity) {
      return new Cache(this.#architecture, this.#rows, capacity);
    }
    spare.clear();
    return spare;
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
    return made;
  }

  #threadsFor(tokens: number): number {
    const weights = this.#placed.reduce((sum, { size }) => sum + size, 0);
    return tokens * weights < WORTH_THREADS ? 1 : (this.#options.threads ?? 1);
  }
}

/** Makes a graph for a number of rows, with a number of tokens or cached positions each. */
type Graph = typeof readPrompts;

/** Each prompt once, and the index of its prompt for every row: rows often share one. */
function eachOnce(prompts: readonly (readonly number[])[]) {
  const found = new Map<string, number>();
  const distinct: (readonly number[])[] = [];
  const promptOf = prompts.map((prompt) => {
    const key = prompt.join();
    const known = found.get(key);
    if (known !== undefined) return known;
    found.set(key, distinct.length);
    return distinct.push(prompt) - 1;
  });
  return { distinct, promptOf };
}
