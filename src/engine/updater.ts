/** Optimiser steps on rows of any length: a training graph for each length, and one state for all. */

import { actionCount } from "../core/token-row.ts";
import { feedsOf, inputsOf, type Placed } from "../graph/parameters.ts";
import type { Tensor } from "../graph/tensor.ts";
import type { Architecture } from "../policy/architecture.ts";
import type { Checkpoint } from "../policy/checkpoint.ts";
import {
  adapterParameters,
  initialiseAdapters,
  type LoraSettings,
  mergeAdapters,
  withAdapters,
} from "../policy/lora.ts";
import type { Weights } from "../policy/transformer.ts";
import { collate } from "./collate.ts";
import type { UpdateOptions, UpdateResult } from "./engine.ts";
import type { GraphLoss, TrainingRow } from "./loss.ts";
import { columnsOf, combinedMetrics, lossGraph } from "./loss-graph.ts";
import { type Feeds, Trainer, type TrainState } from "./trainer.ts";

/** Each holds memory for the rows of its length, and copies of the state. */
const MOST_TRAINERS = 4;

export class Updater {
  readonly #architecture: Architecture;
  readonly #trainable: Trainable;
  readonly #threads: number;
  /** By the shape of their rows. */
  readonly #trainers = new Map<string, Trainer>();
  #loss: GraphLoss | undefined;
  #state: TrainState;

  constructor(
    architecture: Architecture,
    trainable: Trainable,
    state: TrainState,
    threads: number,
  ) {
    this.#architecture = architecture;
    this.#trainable = trainable;
    this.#state = state;
    this.#threads = threads;
  }

  /** As it is now; the buffers are written again by the step after the next. */
  get state(): TrainState {
    return this.#state;
  }

  become(state: TrainState): void {
    this.#state = state;
  }

  async update(
    rows: readonly TrainingRow[],
    loss: GraphLoss,
    options: UpdateOptions,
  ): Promise<UpdateResult> {
    const { batchSize, microBatchSize, length } = options;
    const count = Math.min(microBatchSize ?? batchSize, batchSize);
    const { reduction, maxTokens } = loss;
    const layout = { rows: count, length, columns: columnsOf(loss), reduction, maxTokens };
    const feeds = collate(rows, layout).map((part) => ({
      ...part,
      ...this.#trainable.feeds,
      kl_coefficient: Float32Array.of(options.klCoefficient),
    }));
    const trainer = await this.#trainer(loss, count, options);
    const result = await trainer.step(feeds, options.learningRate);
    this.#state = trainer.state;
    const learned = rows.reduce((sum, row) => sum + actionCount(row), 0);
    return {
      loss: result.loss,
      gradientNorm: result.gradient_norm,
      metrics: combinedMetrics(result.metrics, learned),
    };
  }

  /** A trainer for rows of this shape, which continues from where the last one stopped. */
  async #trainer(loss: GraphLoss, rows: number, options: UpdateOptions): Promise<Trainer> {
    if (loss !== this.#loss) await this.close();
    this.#loss = loss;
    const key = `${rows} ${options.length}`;
    const trainer = this.#trainers.get(key) ?? (await this.#create(loss, rows, options));
    // Last in the map, so that the first is the one not used for longest.
    this.#trainers.delete(key);
    this.#trainers.set(key, trainer);
    if (trainer.state !== this.#state) trainer.become(this.#state);
    return trainer;
  }

  async #create(loss: GraphLoss, rows: number, options: UpdateOptions): Promise<Trainer> {
    const [oldest] = this.#trainers;
    if (oldest && this.#trainers.size >= MOST_TRAINERS) {
      this.#trainers.delete(oldest[0]);
      await oldest[1].close();
    }
    const { adam, batchSize, length } = options;
    return Trainer.create(
      this.#trainable.placed,
      (own) => lossGraph(this.#architecture, this.#trainable.weights(own), { rows, length }, loss),
      this.#state,
      { adam, parts: rows < batchSize, threads: this.#threads },
    );
  }

  async close(): Promise<void> {
    for (const trainer of this.#trainers.values()) await trainer.close();
    this.#trainers.clear();
  }
}

export interface Trainable {
  /** The optimiser's vector. */
  readonly placed: readonly Placed[];
  readonly start: Float32Array;
  /** The policy's weights, out of the vector's. */
  readonly weights: (own: ReadonlyMap<string, Tensor>) => Weights;
  /** Fed at every step besides the batch. */
  readonly feeds: Feeds;
  /** All parameters of the policy, for this vector. */
  readonly whole: (vector: Float32Array) => Float32Array;
}

export function everything({ placed, parameters }: Checkpoint): Trainable {
  return {
    placed,
    start: parameters,
    weights: (own) => (name) => own.get(name) as Tensor,
    feeds: {},
    whole: (vector) => vector,
  };
}

export function adapters(
  { architecture, placed, parameters }: Checkpoint,
  settings: LoraSettings,
  seed: number,
): Trainable {
  const { list, total } = adapterParameters(architecture, settings);
  return {
    placed: list,
    start: initialiseAdapters(list, total, seed),
    weights: (own) => withAdapters(inputsOf(placed), own, settings),
    feeds: feedsOf(parameters, placed),
    whole: (vector) => mergeAdapters(parameters, placed, vector, list, settings),
  };
}
