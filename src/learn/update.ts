/** One batch becomes one move of the policy, or several where an algorithm uses a batch more than once. */

import type { Checkpoint } from "../policy/checkpoint.ts";
import { lengthFor } from "../policy/teacher-forced.ts";
import type { Algorithm, Row } from "./algorithm.ts";
import { columnsOf, lossGraph, type Penalty, recorded } from "./loss-graph.ts";
import { collate, type Layout, learnedTokens } from "./parts/collate.ts";
import type { Trainable } from "./parts/trainable.ts";
import type { TrainSettings } from "./settings.ts";
import type { Source } from "./source.ts";
import { permutation } from "./sources/order.ts";
import { Trainer, type TrainState } from "./trainer.ts";

/** What an updater is made of. */
export interface Made {
  readonly start: Checkpoint;
  readonly trainable: Trainable;
  readonly algorithm: Algorithm;
  readonly settings: TrainSettings;
  readonly source: Source;
  /** The most tokens of a row. */
  readonly length: number;
}

export interface Moved {
  readonly loss: number;
  readonly gradient_norm: number;
  /** Tokens that were trained on, prompts included. */
  readonly tokens: number;
  readonly record: Readonly<Record<string, number>>;
}

/** Each holds memory for the rows of its length, and copies of the state. */
const MOST_TRAINERS = 4;

export class Updater {
  readonly #made: Made;
  readonly #threads: number;
  readonly #passes: { readonly epochs: number; readonly minibatches: number };
  readonly #layout: Omit<Layout, "length">;
  readonly #parts: boolean;
  readonly #penalty: Penalty | undefined;
  /** By the length of their rows. */
  readonly #trainers = new Map<number, Trainer>();
  #state: TrainState;

  constructor(made: Made, from: TrainState, threads: number) {
    const { algorithm, settings, source } = made;
    this.#made = made;
    this.#threads = threads;
    this.#state = from;
    this.#passes = algorithm.passes?.(settings.algorithm) ?? { epochs: 1, minibatches: 1 };
    this.#penalty = penaltyOf(algorithm, settings);
    const move = Math.ceil(source.rows / this.#passes.minibatches);
    const rows = Math.min(settings.micro_batch_size ?? move, move);
    this.#parts = rows < move;
    this.#layout = {
      ...{ rows, mostTokens: source.mostTokens },
      columns: columnsOf(algorithm, this.#penalty),
      reduction: algorithm.reduction(settings.algorithm),
    };
  }

  get state(): TrainState {
    return this.#state;
  }

  /** A trainer for rows of this length, which goes on from where the last one stopped. */
  async #trainer(length: number): Promise<Trainer> {
    const known = this.#trainers.get(length);
    if (known) {
      // Behind the others, so that the first is the one not used for longest.
      this.#trainers.delete(length);
      this.#trainers.set(length, known);
      if (known.state !== this.#state) known.become(this.#state);
      return known;
    }
    const [oldest] = this.#trainers;
    if (oldest && this.#trainers.size >= MOST_TRAINERS) {
      this.#trainers.delete(oldest[0]);
      await oldest[1].close();
    }
    const { start, trainable, algorithm, settings } = this.#made;
    const { beta1, beta2, epsilon, weight_decay, clip_norm } = settings.adam;
    const made = await Trainer.create(
      trainable.placed,
      (own) =>
        lossGraph(
          start.architecture,
          trainable.weights(own),
          { rows: this.#layout.rows, length },
          algorithm,
          settings.algorithm,
          this.#penalty,
        ),
      this.#state,
      {
        threads: this.#threads,
        parts: this.#parts,
        adam: { beta1, beta2, epsilon, weightDecay: weight_decay, clipNorm: clip_norm },
      },
    );
    this.#trainers.set(length, made);
    return made;
  }

  /** All parameters of the policy as they are now. */
  get parameters(): Float32Array {
    return this.#made.trainable.whole(this.#state.parameters);
  }

  async update(
    rows: readonly Row[],
    step: number,
    rate: number,
    klCoefficient: number,
  ): Promise<Moved> {
    const moves: Record<string, number>[] = [];
    const { source, length: longest } = this.#made;
    const length = source.varied ? lengthFor(rows, longest) : longest;
    const trainer = await this.#trainer(length);
    let tokens = 0;
    for (const own of this.#moves(rows, step)) {
      const feeds = collate(own, { ...this.#layout, length }).map((part) => ({
        ...part,
        ...this.#made.trainable.feeds,
        kl_coefficient: Float32Array.of(klCoefficient),
      }));
      const { loss, gradient_norm, watched } = await trainer.step(feeds, rate);
      this.#state = trainer.state;
      const learned = own.reduce((sum, row) => sum + learnedTokens(row), 0);
      moves.push({ loss, gradient_norm, ...recorded(watched, learned) });
      tokens += own.reduce((sum, row) => sum + row.tokens.length - 1, 0);
      if (!Number.isFinite(loss)) break;
    }
    const { loss = Number.NaN, gradient_norm = Number.NaN, ...record } = together(moves);
    return { loss, gradient_norm, tokens, record };
  }

  /** The rows of each move: all in order, or shuffled into minibatches anew in each epoch. */
  *#moves(rows: readonly Row[], step: number): Generator<readonly Row[]> {
    const { epochs, minibatches } = this.#passes;
    if (epochs === 1 && minibatches === 1) {
      yield rows;
      return;
    }
    const size = Math.ceil(rows.length / minibatches);
    for (let epoch = 0; epoch < epochs; epoch++) {
      const order = permutation(rows.length, this.#made.settings.seed, "minibatches", step, epoch);
      const shuffled = [...order].map((i) => rows[i] as Row);
      for (let at = 0; at < rows.length; at += size) yield shuffled.slice(at, at + size);
    }
  }

  async close(): Promise<void> {
    for (const trainer of this.#trainers.values()) await trainer.close();
    this.#trainers.clear();
  }
}

/** A penalty in the loss; one in the reward is the source's affair. */
function penaltyOf(algorithm: Algorithm, { kl }: TrainSettings): Penalty | undefined {
  const wanted = algorithm.needs === "rollouts" && kl.mode !== "none" && kl.place === "loss";
  return wanted ? { estimator: kl.estimator } : undefined;
}

/** Means over the moves; a check counts before the first of them, and a largest is the largest. */
function together(moves: readonly Record<string, number>[]): Record<string, number> {
  const [first = {}] = moves;
  return Object.fromEntries(
    Object.keys(first).map((name) => {
      const values = moves.map((move) => move[name] as number);
      if (name.startsWith("check/")) return [name, values[0] as number];
      if (name.endsWith("/max")) return [name, Math.max(...values)];
      return [name, values.reduce((sum, x) => sum + x, 0) / values.length];
    }),
  );
}
