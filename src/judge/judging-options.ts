/** What every judging of recorded episodes is given. */

import type { GroupJudge, GroupVerdict } from "../core/judge.ts";
import type { Prices } from "../loops/rollout-tally.ts";
import type { ReadOptions } from "../runs/jsonl.ts";

export interface JudgingOptions extends Pick<ReadOptions, "onBytes"> {
  readonly judge: GroupJudge;
  readonly force?: boolean | undefined;
  /** The share of groups without a verdict above which the work stops. */
  readonly droppedLimit?: number | undefined;
  /** Of the judge's tokens. */
  readonly prices?: Prices | undefined;
  /** Called with the number of tasks, and then with each task that is done. */
  readonly onStart?: ((tasks: number) => void) | undefined;
  readonly onTask?: ((verdict: GroupVerdict | undefined) => void) | undefined;
}
