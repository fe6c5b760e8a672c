/** Runs a policy's decoder on rows of a fixed batch: reads prompts, then gives token after token. */

import type { Placed } from "../graph/parameters.ts";
import { type Data, Session, type SessionOptions } from "../graph/session.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "./architecture.ts";
import { nextToken, readPrompts } from "./cached.ts";

/** Sizes come in steps, so that few sessions serve all lengths. */
const STEP = 16;
const rounded = (n: number) => Math.max(STEP, Math.ceil(n / STEP) * STEP);

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
  readonly #buffers = new Map<Session, ReturnType<Session["buffers"]>>();

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
    const length = rounded(Math.max(...prompts.map((prompt) => prompt.length)));
    const session = await this.#session(`read ${length}`, (weights) =>
      readPrompts(this.#architecture, weights, batch, length),
    );
    const tokens = new BigInt64Array(batch * length);
    const last = new BigInt64Array(batch);
    for (let row = 0; row < batch; row++) {
      const prompt = prompts[row] ?? [0];
      for (const [i, token] of prompt.entries()) tokens[row * length + i] = BigInt(token);
      last[row] = BigInt(row * length + prompt.length - 1);
    }
    const read = await session.run(
      { ...this.#weights(parameters), tokens, last },
      this.#buffersOf(session),
    );
    // Before anything is awaited: the next reading writes into the same memory.
    const logits = Float32Array.from(read.logits as Float32Array);
    const places = rounded(Math.max(room, length));
    const cache = new Cache(this.#architecture, batch, places);
    cache.fill(read, length);
    const step = await this.#session(`next ${places}`, (weights) =>
      nextToken(this.#architecture, weights, batch, places),
    );
    const positions = prompts.map((prompt) => prompt.length);
    return new Decoding(
      step,
      this.#weights(parameters),
      cache,
      positions,
      logits,
      this.#architecture.vocabulary,
    );
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) await (await session).close();
    this.#sessions.clear();
    this.#buffers.clear();
  }

  /** What reading prompts writes into; it is copied at once. */
  #buffersOf(session: Session): ReturnType<Session["buffers"]> {
    const known = this.#buffers.get(session) ?? session.buffers();
    this.#buffers.set(session, known);
    return known;
  }

  #session(
    key: string,
    build: (weights: (name: string) => Tensor) => Record<string, Tensor>,
  ): Promise<Session> {
    const known = this.#sessions.get(key);
    if (known) return known;
    const leaves = new Map(this.#placed.map(({ name, shape }) => [name, input(name, shape)]));
    const made = Session.create(
      build((name) => leaves.get(name) as Tensor),
      this.#options,
    );
    this.#sessions.set(key, made);
    return made;
  }

  /** Each parameter as a view of the vector: nothing is copied. */
  #weights(parameters: Float32Array): Record<string, Float32Array> {
    return Object.fromEntries(
      this.#placed.map(({ name, offset, size }) => [
        name,
        parameters.subarray(offset, offset + size),
      ]),
    );
  }
}

/** A batch in the middle of its completions. */
export class Decoding {
  /** Of the next token: [batch, vocabulary]. */
  logits: Float32Array;
  readonly vocabulary: number;
  readonly #session: Session;
  /** Its own, so that two batches may take turns with one session. */
  readonly #into: ReturnType<Session["buffers"]>;
  readonly #fixed: ReturnType<Session["tensors"]>;
  readonly #cache: Cache;
  readonly #positions: number[];

  constructor(
    session: Session,
    weights: Record<string, Data>,
    cache: Cache,
    positions: number[],
    logits: Float32Array,
    vocabulary: number,
  ) {
    this.#session = session;
    this.#into = session.buffers();
    // As the runtime takes them, once and not for every token.
    this.#fixed = session.tensors({ ...weights, ...cache.arrays });
    this.#cache = cache;
    this.#positions = positions;
    this.logits = logits;
    this.vocabulary = vocabulary;
  }

  /** The logits of one row. */
  row(index: number): Float32Array {
    return this.logits.subarray(index * this.vocabulary, (index + 1) * this.vocabulary);
  }

  /** Appends one token to each row; rows that have ended may be given anything. */
  async append(tokens: readonly number[]): Promise<void> {
    const { batch } = this.#cache;
    const ids = new BigInt64Array(batch);
    const positions = new BigInt64Array(batch);
    for (const [row, token] of tokens.entries()) {
      ids[row] = BigInt(token);
      positions[row] = BigInt(Math.min(this.#positions[row] ?? 0, this.#cache.places));
    }
    const { logits, ...fresh } = await this.#session.run(
      { ...this.#fixed, tokens: ids, positions },
      this.#into,
    );
    this.logits = logits as Float32Array;
    this.#cache.append(fresh, positions);
    for (const [row, position] of this.#positions.entries()) this.#positions[row] = position + 1;
  }
}

/** Keys and values of every layer, each as rows of [places, head size]. */
class Cache {
  readonly batch: number;
  readonly places: number;
  readonly arrays: Record<string, Float32Array> = {};
  /** A row for each key head of each row of the batch. */
  readonly #rows: number;
  readonly #head: number;
  readonly #layers: number;

  constructor({ layers, keyHeads, headSize }: Architecture, batch: number, places: number) {
    this.batch = batch;
    this.places = places;
    this.#rows = batch * keyHeads;
    this.#head = headSize;
    this.#layers = layers;
    for (const name of this.#names("keys", "values")) {
      this.arrays[name] = new Float32Array(this.#rows * headSize * places);
    }
  }

  /** Takes over what reading the prompts gave, for positions 0 to length - 1. */
  fill(read: Record<string, Data>, length: number): void {
    const width = length * this.#head;
    for (const name of this.#names("keys", "values")) {
      const [from, to] = [read[name] as Float32Array, this.arrays[name] as Float32Array];
      for (let row = 0; row < this.#rows; row++) {
        to.set(from.subarray(row * width, (row + 1) * width), row * this.places * this.#head);
      }
    }
  }

  /** Puts each row's new key and value at its position. */
  append(fresh: Record<string, Data>, positions: BigInt64Array): void {
    const heads = this.#rows / this.batch;
    const places = Array.from(positions, Number);
    const names = this.#names("keys", "values");
    for (const [n, own] of this.#names("key", "value").entries()) {
      const [from, to] = [
        fresh[own] as Float32Array,
        this.arrays[names[n] as string] as Float32Array,
      ];
      for (let row = 0; row < this.#rows; row++) {
        const at = places[Math.floor(row / heads)] as number;
        if (at >= this.places) continue;
        const [start, end] = [row * this.#head, (row * this.places + at) * this.#head];
        for (let k = 0; k < this.#head; k++) to[end + k] = from[start + k] as number;
      }
    }
  }

  #names(...kinds: readonly string[]): string[] {
    return Array.from({ length: this.#layers }, (_, i) => kinds.map((kind) => kind + i)).flat();
  }
}
