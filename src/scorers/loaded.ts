/** A scorer with the identity of its code, before it is guarded. */

import type { Scorer, ScorerIdentity } from "../core/score.ts";
import type { Sight } from "../extensions/watch.ts";

export interface LoadedScorer {
  readonly scorer: Scorer;
  /** A second instance, to detect randomness drawn on loading. For an object, the same one. */
  readonly again: Scorer;
  readonly identity: ScorerIdentity;
  /** Built-ins and exact graders are proven total and deterministic by tests; all else is guarded. */
  readonly trusted: boolean;
  /** What a file read while it loaded, and may read again. */
  readonly sight?: Sight;
  /** A grader that ends a row by itself and computes in processes of its own, not in threads. */
  readonly ownLimit?: boolean;
  /** Ends what it started, such as the sandbox of a grader. */
  close?(): Promise<void>;
}
