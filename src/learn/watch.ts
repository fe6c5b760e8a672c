/** The figures of a run so far, and the alarms that they raise. */

import { bestEvaluation } from "../curves/divergence.ts";
import type { Alarm, EvaluationRecord, StepRecord } from "../runs/train-records.ts";
import { adviceFor } from "./alarms/advice.ts";
import { type History, LIMITS, type Limits, raisedBy } from "./alarms/index.ts";
import type { Algorithm } from "./algorithm.ts";
import { type TrainSettings, usualRate } from "./settings.ts";

/** What a resumed run has already written. */
export interface WrittenRecords {
  readonly steps: readonly StepRecord[];
  readonly evaluations: readonly EvaluationRecord[];
  readonly alarms: readonly Alarm[];
}

/** Where a judge rewards: whether labels validate, or the judge alone. */
export type Judged = NonNullable<History["facts"]["judged"]>;

export class Watch {
  readonly steps: StepRecord[] = [];
  readonly evaluations: EvaluationRecord[] = [];
  readonly raised = new Set<string>();
  readonly #limits: Limits;
  readonly #facts: History["facts"];

  constructor(
    algorithm: Algorithm,
    settings: TrainSettings,
    {
      scratch = false,
      judged,
    }: { readonly scratch?: boolean; readonly judged?: Judged | undefined } = {},
  ) {
    this.#limits = { ...LIMITS, kl: settings.kl_limit };
    const sampling = algorithm.needs === "rollouts" ? settings.rollouts : settings.evaluate;
    this.#facts = {
      usesReference: algorithm.reference === true || algorithm.needs === "rollouts",
      maxTokens: sampling.max_tokens,
      ...{ scratch, judged },
      grouped: algorithm.grouped?.(settings.algorithm) ?? false,
      rate: { peak: settings.rate.peak, usual: usualRate(algorithm) },
      advice: adviceFor(algorithm, settings),
    };
  }

  get usesReference(): boolean {
    return this.#facts.usesReference;
  }

  restore({ steps, evaluations, alarms }: WrittenRecords): void {
    // One by one: a long run has more of them than a call takes arguments.
    for (const step of steps) this.steps.push(step);
    for (const one of evaluations) this.evaluations.push(one);
    for (const { alarm } of alarms) this.raised.add(alarm);
  }

  /** The evaluation with the highest mean reward; the earliest of equals. */
  get best(): EvaluationRecord | undefined {
    return bestEvaluation(this.evaluations);
  }

  /** Alarms that are due now and were not raised before. */
  alarms(): Alarm[] {
    const { steps, evaluations } = this;
    const history = { steps, evaluations, facts: this.#facts };
    const alarms = raisedBy(history, this.#limits, this.raised);
    for (const { alarm } of alarms) this.raised.add(alarm);
    return alarms;
  }

  /** Whether an update left the range that the first step's loss sets, or gave no number. */
  exploded({ loss, gradientNorm }: { loss: number; gradientNorm: number }): boolean {
    const first = Math.abs(Number(this.steps[0]?.loss ?? 0));
    return !(Math.abs(loss) < 100 + 100 * first) || !Number.isFinite(gradientNorm);
  }
}
