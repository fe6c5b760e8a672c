/** Options and result of a training run. */

import type { Environment, PlayableEnvironment } from "../core/environment.ts";
import type { JsonObject } from "../core/json.ts";
import type { GroupJudge } from "../core/judge.ts";
import type { GuardedScorer } from "../core/score.ts";
import type { Size } from "../policy/initialise.ts";
import type { Alarm, EvaluationRecord, SampleRecord, StepRecord } from "../runs/train-records.ts";
import type { TrainSummary } from "../runs/train-schemas.ts";
import type { ScratchPolicy } from "./from-scratch.ts";

/** Dollars per million tokens. */
export interface JudgePrice {
  readonly prompt: number;
  readonly completion: number;
}

/** Options of `train`. @see {@link train} */
export interface TrainOptions {
  readonly algorithm: string;
  /** Unless set, the train tasks of the environment. */
  readonly dataset?: string | undefined;
  /** "scratch", "pi0", or the folder of a checkpoint. */
  readonly init: string;
  /** Of a policy from scratch. */
  readonly size: Size;
  /** Of a policy from scratch: its characters, each once; those of the texts unless set. */
  readonly alphabet?: string | undefined;
  /** Of a policy from scratch: the most tokens of a row; from the longest text unless set. */
  readonly context?: number | undefined;
  readonly settings: JsonObject;
  readonly outdir: string;
  /** Scorers that give the reward, for methods that sample. */
  readonly rewards?: readonly GuardedScorer[] | undefined;
  /** Scorer used for validation; the first reward scorer unless set. */
  readonly validation?: GuardedScorer | undefined;
  readonly cost?: GuardedScorer | undefined;
  /**
   * Compares the episodes of each task and gives their rewards, in place of scorers or of the
   * environment, for methods that sample groups. Whoever opened it closes it.
   */
  readonly judge?: GroupJudge | undefined;
  /** Share of the groups asked about that may stay without a verdict; 0.1 unless set. */
  readonly judgeDroppedLimit?: number | undefined;
  /** Recorded beside the judge's tokens. */
  readonly judgePrice?: JudgePrice | undefined;
  /** Validation examples; unless set, dev tasks of the environment (setting `evaluate.tasks`). */
  readonly dev?: string | undefined;
  /** Test examples, used once at the end. */
  readonly holdout?: string | undefined;
  readonly threads: number;
  /** A name in `ENGINES`; "local" unless set. */
  readonly engine?: string | undefined;
  /**
   * What episodes are played in: an environment, with or without tasks of its own, or a name in
   * `ENVIRONMENTS`; "single_turn" unless set.
   */
  readonly environment?: PlayableEnvironment | Environment | string | undefined;
  /** The same tasks with other rewards, such as labels: what validation goes by instead. */
  readonly validationEnvironment?: PlayableEnvironment | undefined;
  /** Steps between saved states, from which a run can be resumed. */
  readonly saveEvery: number;
  readonly resume?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly onProgress?: ((done: number, total: number, what: string) => void) | undefined;
  /** Called after each step with the number of steps done. */
  readonly onStep?: ((done: number, record: StepRecord) => void) | undefined;
  /** Called with a policy from scratch, before anything is learned. */
  readonly onScratch?: ((policy: ScratchPolicy) => void) | undefined;
  /** Called after each validation with its figures and a few samples. */
  readonly onValidation?:
    | ((record: EvaluationRecord, samples: readonly SampleRecord[]) => void)
    | undefined;
  /** Called for each alarm. */
  readonly onAlarm?: ((alarm: Alarm) => void) | undefined;
  /** Called when the run ends before its last step. */
  readonly onStop?: ((stop: EarlyStop) => void) | undefined;
  /**
   * Instead of the clock, the step at which the budget `stop.seconds` is spent; null: never. For a run
   * that is made again.
   */
  readonly timeIsUpAt?: number | null | undefined;
}

/** Why a run ended before its last step: an alarm, or a condition of the settings `stop`. */
export interface EarlyStop {
  readonly reason: string;
  readonly step: number;
  readonly message: string;
}

/** A finished training run and its checkpoint. @see {@link train} */
export interface TrainedPolicy {
  readonly dir: string;
  readonly checkpoint: string;
  readonly summary: TrainSummary;
}
