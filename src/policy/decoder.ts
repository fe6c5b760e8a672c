/** Runs a policy's decoder on rows of a fixed batch: reads prompts, then gives token after token. */

import { feedsOf, inputsOf, type Placed } from "../graph/parameters.ts";
import { type Data, Session, type SessionOptions } from "../graph/session.ts";
import type { Tensor } from "../graph/tensor.ts";
import type { Architecture } from "./architecture.ts";
import { nextToken, readPrompts } from "./cached.ts";

/** Sizes come in steps, so that few sessions serve all lengths. */
const STEP = 16;
const rounded = (n: number) => Math.max(STEP, Math.ceil(n / STEP) * STEP);

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
    const session = await this.#session(`read ${length}`, length, (weights) =>
      readPrompts(this.#architecture, weights, batch, length),
    );
    const tokens = new BigInt64Array(batch * length);
    const last = new BigInt64Array(batch);
    for (let row = 0; row < batch; row++) {
      const prompt = prompts[row] ?? [0];
      for (const [i, token] of prompt.entries()) tokens[row * length + i] = BigInt(token);
      last[row] = BigInt(row * length + prompt.length - 1);
    }
    const read = await session.run({ ...feedsOf(parameters, this.#placed), tokens, last });
    const places = rounded(Math.max(room, length));
    const cache = new Cache(this.#architecture, batch, places);
    cache.fill(read, length);
    const step = await this.#session(`next ${places}`, 1, (weights) =>
      nextToken(this.#architecture, weights, batch, places),
    );
    const positions = prompts.map((prompt) => prompt.length);
    return new Decoding(
      step,
      feedsOf(parameters, this.#placed),
      cache,
      positions,
      read.logits as Float32Array,
      this.#architecture.vocabulary,
    );
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) await (await session).close();
    this.#sessions.clear();
  }

  /** `length` is how many tokens of each row a call computes. */
  #session(
    key: string,
    length: number,
    build: (weights: (name: string) => Tensor) => Record<string, Tensor>,
  ): Promise<Session> {
    const known = this.#sessions.get(key);
    if (known) return known;
    const weights = this.#placed.reduce((sum, { size }) => sum + size, 0);
    const work = this.batch * length * weights;
    const made = Session.create(
      build(inputsOf(this.#placed)),
      work < WORTH_THREADS ? { ...this.#options, threads: 1 } : this.#options,
    );
    this.#sessions.set(key, made);
    return made;
  }
}

/** A batch in the middle of its completions. */
export class Decoding {
  /** Of the next token: [batch, vocabulary]. */
  logits: Float32Array;
  readonly vocabulary: number;
  readonly #session: Session;
  readonly #cache: Cache;
  /** Written anew for every token; the runtime reads them where they are. */
  readonly #tokens: BigInt64Array;
  readonly #places: BigInt64Array;
  readonly #feeds: ReturnType<Session["tensors"]>;
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
    this.#cache = cache;
    this.#tokens = new BigInt64Array(cache.batch);
    this.#places = new BigInt64Array(cache.batch);
    // As the runtime takes them, once and not for every token.
    this.#feeds = session.tensors({
      ...{ ...weights, ...cache.arrays },
      ...{ tokens: this.#tokens, positions: this.#places },
    });
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
    const { places } = this.#cache;
    for (const [row, token] of tokens.entries()) {
      this.#tokens[row] = BigInt(token);
      this.#places[row] = BigInt(Math.min(this.#positions[row] as number, places));
    }
    const { logits, ...fresh } = await this.#session.run(this.#feeds);
    this.logits = logits as Float32Array;
    this.#cache.append(fresh, this.#positions);
    for (const [row, at] of this.#positions.entries()) this.#positions[row] = at + 1;
  }
}

/** Keys and values of every layer, each as rows of [places, head size]. */
class Cache {
  readonly batch: number;
  readonly places: number;
  readonly arrays: Record<string, Float32Array> = {};
  /** Each with the name of what one more token adds to it. */
  readonly #kept: readonly (readonly [kept: Float32Array, name: string, fresh: string])[];
  readonly #heads: number;
  readonly #head: number;

  constructor({ layers, keyHeads, headSize }: Architecture, batch: number, places: number) {
    this.batch = batch;
    this.places = places;
    this.#heads = keyHeads;
    this.#head = headSize;
    const size = batch * keyHeads * headSize * places;
    this.#kept = Array.from({ length: layers }, (_, i) =>
      ["key", "value"].map((kind) => [new Float32Array(size), `${kind}s${i}`, kind + i] as const),
    ).flat();
    for (const [kept, name] of this.#kept) this.arrays[name] = kept;
  }

  /** Takes over what reading the prompts gave, for positions 0 to length - 1. */
  fill(read: Record<string, Data>, length: number): void {
    const width = length * this.#head;
    for (const [kept, name] of this.#kept) {
      const from = read[name] as Float32Array;
      for (let row = 0; row < this.batch * this.#heads; row++) {
        kept.set(from.subarray(row * width, (row + 1) * width), row * this.places * this.#head);
      }
    }
  }

  /** Puts each row's new key and value at its position; a row that is full keeps what it has. */
  append(fresh: Record<string, Data>, positions: readonly number[]): void {
    const [heads, size, places] = [this.#heads, this.#head, this.places];
    for (const [kept, , name] of this.#kept) {
      const from = fresh[name] as Float32Array;
      for (const [row, at] of positions.entries()) {
        if (at >= places) continue;
        for (let head = row * heads; head < (row + 1) * heads; head++) {
          const [start, end] = [head * size, (head * places + at) * size];
          for (let k = 0; k < size; k++) kept[end + k] = from[start + k] as number;
        }
      }
    }
  }
}
