/**
 * What one thread holds and computes: vectors of weights, graphs that read them, a decoder. Threads
 * share no memory, because the runtime does not accept shared memory; each has its own copy of the
 * vectors. A lane gives the same bytes in whatever thread it lies.
 */

import type { Placed } from "../graph/parameters.ts";
import { type Data, type GraphFile, Session } from "../graph/session.ts";
import type { Architecture } from "./architecture.ts";
import { Decoder } from "./decoder.ts";
import {
  type GeneratedToken,
  type GenerateOptions,
  type Generation,
  type GenerationRequest,
  generateAll,
  generateEach,
  generateSteps,
} from "./generate.ts";
import type { PolicyTokenizer } from "./tokenizer.ts";

/** An input of a graph that is a piece of a vector which the lane holds. */
export interface Bound {
  readonly input: string;
  readonly vector: string;
  readonly offset: number;
  readonly size: number;
}

/** Values for inputs made by `inputsOf`: pieces of one vector. */
export function boundTo(vector: string, placed: readonly Placed[], prefix = ""): Bound[] {
  return placed.map(({ name, offset, size }) => ({ input: prefix + name, vector, offset, size }));
}

export interface LaneSetup {
  readonly architecture: Architecture;
  readonly placed: readonly Placed[];
  /** Rows that are sampled at once. */
  readonly places: number;
  /** Of the runtime within this lane. */
  readonly threads: number;
}

/** The methods that can be called from another thread. */
export type LaneMethod = "put" | "open" | "run" | "drop" | "sample" | "close";

/** How a lane samples. Only a lane of the main thread can be given a `decode`, for stop texts. */
export type LaneSampling = Omit<GenerateOptions, "parameters" | "tokenizer"> & {
  readonly tokenizer: Pick<PolicyTokenizer, "endTokens"> & Partial<Pick<PolicyTokenizer, "decode">>;
};

export class Lane {
  readonly #decoder: Decoder;
  readonly #vectors = new Map<string, Float32Array>();
  /** Kept while they are being opened: a run waits for it, and rejects with its error. */
  readonly #graphs = new Map<string, Promise<Session>>();

  constructor({ architecture, placed, places, threads }: LaneSetup) {
    this.#decoder = new Decoder(architecture, placed, { batch: places, threads });
  }

  /** Replaces a vector. */
  async put(name: string, vector: Float32Array): Promise<void> {
    this.#vectors.set(name, vector);
  }

  async open(key: string, file: GraphFile): Promise<void> {
    const graph = Session.open(file);
    this.#graphs.set(key, graph);
    await graph;
  }

  /** Runs an open graph. Inputs that are not fed are pieces of vectors. */
  async run(
    key: string,
    feeds: Readonly<Record<string, Data>>,
    bound: readonly Bound[],
  ): Promise<Record<string, Data>> {
    const graph = await this.#graphs.get(key);
    if (!graph) throw new Error(`this lane has no graph "${key}"`);
    const pieces = bound.map(({ input, vector, offset, size }) => [
      input,
      this.#vector(vector).subarray(offset, offset + size),
    ]);
    return graph.run({ ...Object.fromEntries(pieces), ...feeds });
  }

  async drop(key: string): Promise<void> {
    const graph = this.#graphs.get(key);
    this.#graphs.delete(key);
    await graph?.then(
      (open) => open.close(),
      () => {},
    );
  }

  /** Completions; without their texts if there is no `decode`. */
  sample(
    vector: string,
    requests: readonly GenerationRequest[],
    options: LaneSampling,
  ): Promise<Generation[]> {
    return generateAll(this.#decoder, requests, this.#generating(vector, options));
  }

  /** The same, each as soon as it and those before it have ended. */
  each(...[vector, requests, options]: Parameters<Lane["sample"]>): AsyncGenerator<Generation> {
    return generateEach(this.#decoder, requests, this.#generating(vector, options));
  }

  /** The same, token by token. */
  steps(
    ...[vector, requests, options]: Parameters<Lane["sample"]>
  ): AsyncGenerator<readonly GeneratedToken[]> {
    return generateSteps(this.#decoder, requests, this.#generating(vector, options));
  }

  async close(): Promise<void> {
    for (const key of [...this.#graphs.keys()]) await this.drop(key);
    await this.#decoder.close();
  }

  #generating(vector: string, options: LaneSampling): GenerateOptions {
    const { endTokens, decode } = options.tokenizer;
    const tokenizer = { endTokens, decode: decode ? decode.bind(options.tokenizer) : () => "" };
    return { ...options, tokenizer, parameters: this.#vector(vector) };
  }

  #vector(name: string): Float32Array {
    const vector = this.#vectors.get(name);
    if (!vector) throw new Error(`this lane has no vector "${name}"`);
    return vector;
  }
}
