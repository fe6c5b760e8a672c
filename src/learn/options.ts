/** What a training run is given, and what it gives back. */

import type { Environment } from "../core/environment.ts";
import type { JsonObject } from "../core/json.ts";
import type { GuardedScorer } from "../core/score.ts";
import type { Size } from "../policy/initialise.ts";
import type { Alarm, StepRecord } from "../runs/train-records.ts";
import type { TrainSummary } from "../runs/train-schemas.ts";

/**
 * What `train` is given.
 *
 * @see {@link train}
 */
export interface TrainOptions {
  readonly algorithm: string;
  readonly dataset: string;
  /** "scratch", "pi0", or the folder of a checkpoint. */
  readonly init: string;
  /** Of a policy from scratch. */
  readonly size: Size;
  readonly settings: JsonObject;
  readonly outdir: string;
  /** Who rewards, where the method samples. */
  readonly rewards?: readonly GuardedScorer[] | undefined;
  /** Who says how good the policy really is; the first rewarding scorer unless told. */
  readonly validation?: GuardedScorer | undefined;
  readonly cost?: GuardedScorer | undefined;
  /** Examples to validate on while it learns. */
  readonly dev?: string | undefined;
  /** Examples to test on, once, at the very end. */
  readonly holdout?: string | undefined;
  readonly threads: number;
  /** A name in `ENGINES`; "local" unless set. */
  readonly engine?: string | undefined;
  /** An environment, or a name in `ENVIRONMENTS`; "single_turn" unless set. */
  readonly environment?: Environment | string | undefined;
  /** Steps between saved positions. */
  readonly saveEvery: number;
  readonly resume?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly onProgress?: ((done: number, total: number, what: string) => void) | undefined;
  /** Hears of each step: how many are done, and the tokens of this one. */
  readonly onStep?: ((done: number, record: StepRecord) => void) | undefined;
  /** Hears of each alarm, and whether it ends this run. */
  readonly onAlarm?: ((alarm: Alarm) => void) | undefined;
}

/**
 * A finished training run and its checkpoint.
 *
 * @see {@link train}
 */
export interface TrainedPolicy {
  readonly dir: string;
  readonly checkpoint: string;
  readonly summary: TrainSummary;
}
