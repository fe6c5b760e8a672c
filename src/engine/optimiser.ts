/** AdamW on one vector: its state lies in two sets of buffers, which take turns. */

import { Session, type SessionOptions } from "../graph/session.ts";
import { type AdamSettings, updateStep } from "../graph/train-step.ts";

/** Everything that the next step depends on besides its batch. */
export interface TrainState {
  /** How many steps were made. */
  readonly step: number;
  readonly parameters: Float32Array;
  /** Adam's first and second moments. */
  readonly m: Float32Array;
  readonly v: Float32Array;
}

export function startState(parameters: Float32Array): TrainState {
  const { length } = parameters;
  return { step: 0, parameters, m: new Float32Array(length), v: new Float32Array(length) };
}

export class Optimiser {
  readonly #settings: AdamSettings;
  readonly #session: Session;
  #state: TrainState;
  #spare: Omit<TrainState, "step">;

  private constructor(session: Session, state: TrainState, settings: AdamSettings) {
    this.#session = session;
    this.#settings = settings;
    const { step, parameters, m, v } = state;
    const copies = () => ({
      parameters: Float32Array.from(parameters),
      m: Float32Array.from(m),
      v: Float32Array.from(v),
    });
    this.#state = { step, ...copies() };
    this.#spare = copies();
  }

  static async create(
    state: TrainState,
    settings: AdamSettings,
    options: SessionOptions = {},
  ): Promise<Optimiser> {
    const graph = updateStep(state.parameters.length, settings);
    // Busy waiting would slow the lanes, which run next.
    const session = await Session.create(graph, { ...options, busyWaiting: false });
    return new Optimiser(session, state, settings);
  }

  /** As it is now; the buffers are written again by the step after the next. */
  get state(): TrainState {
    return this.#state;
  }

  /** Moves along the gradient; returns its norm before clipping. */
  async step(gradient: Float32Array, learningRate: number): Promise<number> {
    const { step, parameters, m, v } = this.#state;
    const count = step + 1;
    const { beta1, beta2 } = this.#settings;
    const shape = [parameters.length];
    const results = await this.#session.run(
      {
        ...{ parameters, m, v, gradient },
        learning_rate: Float32Array.of(learningRate),
        correction1: Float32Array.of(1 / (1 - beta1 ** count)),
        correction2: Float32Array.of(1 / (1 - beta2 ** count)),
      },
      {
        next_parameters: this.#session.tensor(this.#spare.parameters, shape),
        next_m: this.#session.tensor(this.#spare.m, shape),
        next_v: this.#session.tensor(this.#spare.v, shape),
      },
    );
    this.#state = { step: count, ...this.#spare };
    this.#spare = { parameters, m, v };
    return Number(results.gradient_norm?.[0]);
  }

  async close(): Promise<void> {
    await this.#session.close();
  }
}
