/** A training step that is ready to run: the state lies in two sets of buffers, which take turns. */

import type { Placed } from "../graph/parameters.ts";
import { type Data, Session, type SessionOptions } from "../graph/session.ts";
import {
  ADAM,
  type AdamSettings,
  gradientStep,
  type Model,
  trainStep,
  updateStep,
} from "../graph/train-step.ts";

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
  /** Of all parts together. */
  readonly loss: number;
  /** Before clipping. */
  readonly gradient_norm: number;
  /** What else the model shows, of each part. */
  readonly metrics: readonly Readonly<Record<string, number>>[];
}

export type Feeds = Readonly<Record<string, Data>>;

export interface TrainerOptions extends SessionOptions {
  readonly adam?: AdamSettings | undefined;
  /** Whether a batch may come in several parts, whose gradients are gathered before the move. */
  readonly parts?: boolean | undefined;
}

export class Trainer {
  readonly #settings: AdamSettings;
  /** Does everything, or only gathers when there is a session for the move. */
  readonly #step: Session;
  readonly #move: Session | undefined;
  #state: TrainState;
  #spare: Omit<TrainState, "step">;

  private constructor(
    step: Session,
    move: Session | undefined,
    state: TrainState,
    settings: AdamSettings,
  ) {
    this.#step = step;
    this.#move = move;
    this.#settings = settings;
    const copy = (data: Float32Array) => Float32Array.from(data);
    const { step: count, parameters, m, v } = state;
    this.#state = { step: count, parameters: copy(parameters), m: copy(m), v: copy(v) };
    this.#spare = { parameters: copy(parameters), m: copy(m), v: copy(v) };
  }

  static async create(
    placed: readonly Placed[],
    model: Model,
    state: TrainState,
    { adam = ADAM, parts = false, ...options }: TrainerOptions = {},
  ): Promise<Trainer> {
    const total = state.parameters.length;
    if (!parts) {
      const whole = await Session.create(trainStep(placed, total, model, adam), options);
      return new Trainer(whole, undefined, state, adam);
    }
    const gather = await Session.create(gradientStep(placed, total, model), options);
    const move = await Session.create(updateStep(total, adam), options);
    return new Trainer(gather, move, state, adam);
  }

  /** As it is now; the buffers are written again by the step after the next. */
  get state(): TrainState {
    return this.#state;
  }

  /** Goes on from another state of the same size. */
  become({ step, parameters, m, v }: TrainState): void {
    for (const [name, data] of Object.entries({ parameters, m, v })) {
      this.#state[name as "m"].set(data);
    }
    this.#state = { ...this.#state, step };
  }

  /** One move, by a batch that comes whole or in parts. */
  async step(batch: Feeds | readonly Feeds[], learningRate: number): Promise<StepResult> {
    const parts = Array.isArray(batch) ? (batch as readonly Feeds[]) : [batch as Feeds];
    if (!this.#move) {
      if (parts.length !== 1) throw new Error("this trainer takes a batch whole");
      const { gradient_norm, ...seen } = await this.#moveBy(
        this.#step,
        parts[0] as Feeds,
        learningRate,
      );
      return { ...split([seen]), gradient_norm: gradient_norm as number };
    }
    const { length } = this.#state.parameters;
    let gathered = new Float32Array(length);
    let next = new Float32Array(length);
    const seen: Record<string, number>[] = [];
    for (const part of parts) {
      const into = { next_gathered: this.#step.tensor(next, [length]) };
      const { parameters } = this.#state;
      seen.push(numbers(await this.#step.run({ ...part, parameters, gathered }, into)));
      [gathered, next] = [next, gathered];
    }
    const { gradient_norm } = await this.#moveBy(this.#move, { gathered }, learningRate);
    return { ...split(seen), gradient_norm: gradient_norm as number };
  }

  async #moveBy(
    session: Session,
    feeds: Feeds,
    learningRate: number,
  ): Promise<Record<string, number>> {
    const { step, parameters, m, v } = this.#state;
    const count = step + 1;
    const { beta1, beta2 } = this.#settings;
    const shape = [parameters.length];
    const into = {
      next_parameters: session.tensor(this.#spare.parameters, shape),
      next_m: session.tensor(this.#spare.m, shape),
      next_v: session.tensor(this.#spare.v, shape),
    };
    const results = await session.run(
      {
        ...{ ...feeds, parameters, m, v },
        learning_rate: Float32Array.of(learningRate),
        correction1: Float32Array.of(1 / (1 - beta1 ** count)),
        correction2: Float32Array.of(1 / (1 - beta2 ** count)),
      },
      into,
    );
    this.#state = { step: count, ...this.#spare };
    this.#spare = { parameters, m, v };
    return numbers(results);
  }

  async close(): Promise<void> {
    await this.#step.close();
    await this.#move?.close();
  }
}

/** The results that are single numbers. */
function numbers(results: Readonly<Record<string, Data>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(results)
      .filter(([, data]) => data.length === 1)
      .map(([name, data]) => [name, Number(data[0])]),
  );
}

function split(parts: readonly Record<string, number>[]): Omit<StepResult, "gradient_norm"> {
  return {
    loss: parts.reduce((sum, { loss = Number.NaN }) => sum + loss, 0),
    metrics: parts.map(({ loss: _, ...rest }) => rest),
  };
}
