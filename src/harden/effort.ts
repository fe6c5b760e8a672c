/** What a part of the attack is given to work with. */

import type { Rng } from "../core/rng.ts";
import type { Finds } from "./finds.ts";
import type { Subject } from "./subject.ts";

export interface Effort {
  readonly subject: Subject;
  readonly finds: Finds;
  /** How often it may call the scorer. */
  readonly inputs: number;
  /** True ends it. */
  stop(): boolean;
}

/** An effort that makes random texts. */
export interface RandomEffort extends Effort {
  /** Texts that may matter to the scorer. */
  readonly words: readonly string[];
  readonly rng: Rng;
}
