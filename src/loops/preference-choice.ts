/** Which samples of a prompt become preference pairs: far enough apart in reward, alike in length. */

/** A different text of a pack with its reward; of equal texts, the first. */
export interface PairCandidate {
  /** Its place in the pack. */
  readonly index: number;
  readonly completion: string;
  readonly reward: number;
  readonly characters: number;
  /** Null where tokens were not counted. */
  readonly tokens: number | null;
}

export interface Preference {
  readonly chosen: PairCandidate;
  readonly rejected: PairCandidate;
}

export const PAIR_RULES = ["best-worst", "all", "first"] as const;
export type PairRule = (typeof PAIR_RULES)[number];

export interface PairSettings {
  /** The widest pair, every pair, or the first in sampling order. */
  readonly by: PairRule;
  /** The least difference of rewards; 0 for any. */
  readonly margin: number;
  /** The share by which lengths may differ; null for any. */
  readonly lengthTolerance: number | null;
  /** The most pairs of a prompt, where every pair is taken. */
  readonly perPrompt: number;
}

export interface Choice {
  readonly pairs: readonly Preference[];
  /** Pairs that are far enough apart. */
  readonly apart: number;
  /** Those of them that are alike in length, too. */
  readonly eligible: number;
}

/** How many pairs are held before the worst of them are dropped. */
const HELD = 4096;

export function choosePairs(samples: readonly PairCandidate[], settings: PairSettings): Choice {
  const order = settings.by === "first" ? earliestFirst : widestFirst;
  const most = settings.by === "all" ? settings.perPrompt : 1;
  const found: Preference[] = [];
  let [apart, eligible] = [0, 0];
  for (let i = 1; i < samples.length; i++) {
    for (let j = 0; j < i; j++) {
      const pair = preference(samples[j] as PairCandidate, samples[i] as PairCandidate);
      if (!areApart(pair, settings.margin)) continue;
      apart++;
      if (!areAlike(pair, settings.lengthTolerance)) continue;
      eligible++;
      found.push(pair);
      if (found.length > HELD + 2 * most) found.sort(order).splice(most);
    }
  }
  return { pairs: found.sort(order).slice(0, most), apart, eligible };
}

function preference(one: PairCandidate, other: PairCandidate): Preference {
  return one.reward > other.reward
    ? { chosen: one, rejected: other }
    : { chosen: other, rejected: one };
}

/** 0.3 − 0.2 is a little less than 0.1 and must still meet a margin of 0.1. */
const ROUNDING = 1e-9;

function areApart(pair: Preference, margin: number): boolean {
  const difference = differenceOf(pair);
  return difference > 0 && difference >= margin * (1 - ROUNDING);
}

function areAlike({ chosen, rejected }: Preference, tolerance: number | null): boolean {
  if (tolerance === null) return true;
  const [a, b] =
    chosen.tokens !== null && rejected.tokens !== null
      ? [chosen.tokens, rejected.tokens]
      : [chosen.characters, rejected.characters];
  return Math.abs(a - b) <= tolerance * Math.max(a, b) * (1 + ROUNDING);
}

const differenceOf = ({ chosen, rejected }: Preference) => chosen.reward - rejected.reward;

/** The largest difference, then the better chosen one, then by sampling order. */
function widestFirst(a: Preference, b: Preference): number {
  return (
    differenceOf(b) - differenceOf(a) ||
    b.chosen.reward - a.chosen.reward ||
    a.chosen.index - b.chosen.index ||
    a.rejected.index - b.rejected.index
  );
}

/** The pair that is complete first when samples are compared as they come. */
function earliestFirst(a: Preference, b: Preference): number {
  const [earlyA, lateA] = inSamplingOrder(a);
  const [earlyB, lateB] = inSamplingOrder(b);
  return lateA - lateB || earlyA - earlyB;
}

function inSamplingOrder({ chosen, rejected }: Preference): [number, number] {
  return chosen.index < rejected.index
    ? [chosen.index, rejected.index]
    : [rejected.index, chosen.index];
}
