/** A training step that is ready to run: the state lies in two sets of buffers, which take turns. */

import type { Placed } from "../graph/parameters.ts";
import { type Data, Session, type SessionOptions } from "../graph/session.ts";
import { ADAM, type AdamSettings, type Model, trainStep } from "../graph/train-step.ts";

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

export interface StepResult {
  readonly loss: number;
  /** Before clipping. */
  readonly gradient_norm: number;
}

export class Trainer {
  readonly #session: Session;
  readonly #settings: AdamSettings;
  #state: TrainState;
  #spare: Omit<TrainState, "step">;

  private constructor(session: Session, state: TrainState, settings: AdamSettings) {
    this.#session = session;
    this.#settings = settings;
    const copy = (data: Float32Array) => Float32Array.from(data);
    const { step, parameters, m, v } = state;
    this.#state = { step, parameters: copy(parameters), m: copy(m), v: copy(v) };
    this.#spare = { parameters: copy(parameters), m: copy(m), v: copy(v) };
  }

  static async create(
    placed: readonly Placed[],
    model: Model,
    state: TrainState,
    options: SessionOptions & { readonly adam?: AdamSettings } = {},
  ): Promise<Trainer> {
    const { adam = ADAM, ...session } = options;
    const step = trainStep(placed, state.parameters.length, model, adam);
    return new Trainer(await Session.create(step, session), state, adam);
  }

  /** As it is now; the buffers are written again by the step after the next. */
  get state(): TrainState {
    return this.#state;
  }

  async step(batch: Readonly<Record<string, Data>>, learningRate: number): Promise<StepResult> {
    const { step, parameters, m, v } = this.#state;
    const count = step + 1;
    const { beta1, beta2 } = this.#settings;
    const shape = [parameters.length];
    const into = {
      next_parameters: this.#session.tensor(this.#spare.parameters, shape),
      next_m: this.#session.tensor(this.#spare.m, shape),
      next_v: this.#session.tensor(this.#spare.v, shape),
    };
    const { loss, gradient_norm: norm } = await this.#session.run(
      {
        ...{ ...batch, parameters, m, v },
        learning_rate: Float32Array.of(learningRate),
        correction1: Float32Array.of(1 / (1 - beta1 ** count)),
        correction2: Float32Array.of(1 / (1 - beta2 ** count)),
      },
      into,
    );
    const before = this.#state;
    this.#state = { step: count, ...this.#spare };
    this.#spare = { parameters: before.parameters, m: before.m, v: before.v };
    return { loss: Number(loss?.[0]), gradient_norm: Number(norm?.[0]) };
  }

  async close(): Promise<void> {
    await this.#session.close();
  }
}
