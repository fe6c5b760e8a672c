/** What a seed makes of the drill: how many pairs, which causes, which rows and which claims. */

import { rngAt, shuffled } from "../../core/index.ts";
import { examplesOf } from "../../datasets/index.ts";
import { CASES, type Case, type Draw } from "./cases.ts";
import { CAUSE_NAMES } from "./causes.ts";
import { CLAIMS, type Direction } from "./claims.ts";

const FEWEST_PAIRS = 6;
const MOST_PAIRS = 8;
/** How often a cause may be drawn: some come twice, others not at all. */
const COPIES = 2;

export interface DrawnCase extends Case {
  readonly claim: string;
  readonly draw: Draw;
}

/** In the order that the learner sees. */
export function casesOf(seed: number): DrawnCase[] {
  const rng = rngAt(seed, "drill");
  const pairs = FEWEST_PAIRS + rng.below(MOST_PAIRS - FEWEST_PAIRS + 1);
  const causes = shuffled(Array<typeof CAUSE_NAMES>(COPIES).fill(CAUSE_NAMES).flat(), rng);
  const claims: Record<Direction, readonly string[]> = {
    rises: shuffled(CLAIMS.rises, rng),
    falls: shuffled(CLAIMS.falls, rng),
    stays: shuffled(CLAIMS.stays, rng),
  };
  const used = { rises: 0, falls: 0, stays: 0 };
  return causes.slice(0, pairs).map((cause, i) => {
    const kinds = CASES.filter((one) => one.cause === cause);
    const kind = kinds[rng.below(kinds.length)] as Case;
    const words = claims[kind.direction];
    const claim = words[used[kind.direction]++ % words.length] as string;
    return { ...kind, claim, draw: drawOf(seed, i) };
  });
}

const ROWS = [160, 180, 200, 220, 240];
const UPDATES = [240, 320, 480, 640];
const SAMPLES = [2, 3, 4, 6, 8];

function drawOf(seed: number, index: number): Draw {
  const rng = rngAt(seed, "drill", index);
  const oneOf = (values: readonly number[]) => values[rng.below(values.length)] as number;
  const [rows, updates, n] = [oneOf(ROWS), oneOf(UPDATES), oneOf(SAMPLES)];
  const all = examplesOf("dev");
  const kept = new Set(shuffled(all, rng).slice(0, rows));
  return { seed, updates, n, examples: all.filter((one) => kept.has(one)) };
}
