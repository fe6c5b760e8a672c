/**
 * Optimiser steps on rows of any length. A batch is packed into parts, the lanes compute their
 * gradients, and these are added in the order of the parts, whichever lane computed them: the sum does
 * not depend on the number of threads.
 */

import { actionCount } from "../core/token-row.ts";
import { graphFile } from "../graph/session.ts";
import { type AdamSettings, gradientStep } from "../graph/train-step.ts";
import { type Architecture, attentionLength } from "../policy/architecture.ts";
import type { Lanes } from "../policy/lanes.ts";
import { OpenGraphs } from "../policy/open-graphs.ts";
import { packRows } from "../policy/packing.ts";
import { type BatchShape, batchShape, collate, type Feeds } from "./collate.ts";
import type { UpdateOptions, UpdateResult } from "./engine.ts";
import type { GraphLoss, TrainingRow } from "./loss.ts";
import { columnsOf, combinedMetrics, lossGraph } from "./loss-graph.ts";
import { Optimiser, type TrainState } from "./optimiser.ts";
import type { Trainable } from "./trainable.ts";

export interface UpdaterParts {
  readonly architecture: Architecture;
  readonly trainable: Trainable;
  readonly lanes: Lanes;
  /** Of the optimiser. */
  readonly threads: number;
  /** Each row for itself, see `packRows`. */
  readonly unpacked?: boolean | undefined;
}

export class Updater {
  readonly #parts: UpdaterParts;
  readonly #graphs: OpenGraphs;
  #loss: GraphLoss | undefined;
  #optimiser: { readonly key: string; readonly optimiser: Optimiser } | undefined;
  #state: TrainState;

  constructor(parts: UpdaterParts, state: TrainState) {
    this.#parts = parts;
    this.#graphs = new OpenGraphs(parts.lanes, "loss");
    this.#state = state;
    this.#publish();
  }

  /** As it is now; the buffers are written again by the step after the next. */
  get state(): TrainState {
    return this.#state;
  }

  async become(state: TrainState): Promise<void> {
    await this.#optimiser?.optimiser.close();
    this.#optimiser = undefined;
    this.#state = state;
    this.#publish();
  }

  async update(
    rows: readonly TrainingRow[],
    loss: GraphLoss,
    { adam, learningRate, klCoefficient, microBatchSize }: UpdateOptions,
  ): Promise<UpdateResult> {
    if (rows.length === 0) throw new Error("a batch has no rows");
    const { architecture, unpacked } = this.#parts;
    const packing = packRows(rows, {
      ...{ unpacked, together: loss.together, mostRows: microBatchSize ?? undefined },
      attentionLength: attentionLength(architecture),
    });
    const shape = batchShape(rows, packing, loss.maxTokens);
    const { reduction, maxTokens } = loss;
    const collated = { columns: columnsOf(loss), reduction, maxTokens, microBatchSize };
    const feeds = collate(rows, packing, shape, collated).map((part) => () => ({
      ...part(),
      kl_coefficient: Float32Array.of(klCoefficient),
    }));
    const key = await this.#graph(loss, shape);
    const { gradient, ...seen } = await this.#gradient(key, feeds);
    const optimiser = await this.#optimiserFor(adam);
    const gradientNorm = await optimiser.step(gradient, learningRate);
    this.#state = optimiser.state;
    this.#publish();
    const learned = rows.reduce((sum, row) => sum + actionCount(row), 0);
    return {
      ...{ loss: seen.loss, gradientNorm, usedShare: packing.usedShare },
      metrics: combinedMetrics(seen.metrics, learned),
    };
  }

  async #gradient(key: string, feeds: readonly (() => Feeds)[]) {
    const { lanes, trainable } = this.#parts;
    let gradient: Float32Array | undefined;
    let loss = 0;
    const metrics: Record<string, number>[] = [];
    for await (const results of lanes.run(key, feeds, trainable.bound)) {
      const { gradient: own, loss: part, ...rest } = results;
      if (gradient) addTo(gradient, own as Float32Array);
      else gradient = own as Float32Array;
      loss += Number(part?.[0]);
      const numbers = Object.entries(rest).map(([name, data]) => [name, Number(data[0])]);
      metrics.push(Object.fromEntries(numbers));
    }
    return { gradient: gradient as Float32Array, loss, metrics };
  }

  async #graph(loss: GraphLoss, shape: BatchShape): Promise<string> {
    if (loss !== this.#loss) await this.#graphs.close();
    this.#loss = loss;
    const { architecture, trainable, lanes } = this.#parts;
    const { placed, start } = trainable;
    return this.#graphs.open(shape, () => {
      const results = gradientStep(placed, start.length, (own) =>
        lossGraph(architecture, trainable.weights(own), shape, loss),
      );
      return graphFile(results, { threads: lanes.threads, keepMemory: false });
    });
  }

  /** One that continues from where the last one stopped. */
  async #optimiserFor(adam: AdamSettings): Promise<Optimiser> {
    const key = JSON.stringify(adam);
    if (this.#optimiser?.key === key) return this.#optimiser.optimiser;
    await this.#optimiser?.optimiser.close();
    const { threads } = this.#parts;
    this.#optimiser = { key, optimiser: await Optimiser.create(this.#state, adam, { threads }) };
    return this.#optimiser.optimiser;
  }

  /** Gives the lanes the weights as they are now. */
  #publish(): void {
    const { lanes, trainable } = this.#parts;
    lanes.put(trainable.vector, this.#state.parameters);
  }

  /** The graphs are closed with the lanes. */
  async close(): Promise<void> {
    await this.#optimiser?.optimiser.close();
  }
}

function addTo(sum: Float32Array, other: Float32Array): void {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (other[i] as number);
}
