/** What a source may use: the policy of the moment, the data, the scorers, and the run's memory. */

import type { GuardedScorer } from "../../core/score.ts";
import type { Algorithm, Memory } from "../algorithm.ts";
import type { HeldOutPrompts } from "../held-out.ts";
import type { LivePolicy } from "../live-policy.ts";
import type { TrainSettings } from "../settings.ts";
import type { Reading } from "./texts.ts";

export interface SourceContext {
  readonly dataset: string;
  readonly outdir: string;
  readonly algorithm: Algorithm;
  readonly settings: TrainSettings;
  readonly reading: Reading;
  readonly heldOut: HeldOutPrompts;
  /** The scorers that reward, in the order of their weights. */
  readonly rewards: readonly GuardedScorer[];
  readonly cost: GuardedScorer | undefined;
  readonly memory: Memory;
  /** Only once the source is open: how long rows are decides how it is made. */
  readonly policy: () => LivePolicy;
  readonly onProgress?: ((done: number, total: number, what: string) => void) | undefined;
}
