/** Counts preference pairs and labels, and why the other prompts have no pair. */

import { INVALID_EXAMPLE, passes } from "../core/score.ts";
import type { PairsSummary, WithoutPair } from "../runs/preference-schemas.ts";
import type { Choice, PairCandidate, Preference } from "./preference-choice.ts";
import type { ScoredPack } from "./score-packs.ts";

/** The different texts of a pack. */
interface Candidates {
  /** Samples in the pack; 0 where no pack names the example, or an empty one. */
  readonly samples: number;
  /** Different texts among them. */
  readonly different: number;
  /** Those that have a reward, in sampling order. */
  readonly candidates: readonly PairCandidate[];
  /** Texts without a reward, because of a scorer error. */
  readonly broken: number;
  /** Texts that cannot be scored because the example itself is invalid. */
  readonly invalid: number;
}

export function candidatesOf({ pack, samples, firstOf }: ScoredPack): Candidates {
  const candidates: PairCandidate[] = [];
  let [different, broken, invalid] = [0, 0, 0];
  for (const { index, completion, reward, code } of samples) {
    if (firstOf[index] !== index) continue;
    different++;
    if (code === INVALID_EXAMPLE) invalid++;
    else if (reward === null) broken++;
    else {
      const [characters, tokens] = [codePoints(completion), tokensOf(pack?.samples[index])];
      candidates.push({ index, completion, reward, characters, tokens });
    }
  }
  return { samples: samples.length, different, candidates, broken, invalid };
}

/** As `rollout` writes it; other packs need not have it. */
function tokensOf(sample: unknown): number | null {
  const { completion_tokens: tokens } = sample as { readonly completion_tokens?: unknown };
  return Number.isSafeInteger(tokens) && Number(tokens) >= 0 ? Number(tokens) : null;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

type Counts = Omit<
  PairsSummary,
  "schema" | "scorer" | "unknown_packs" | "files" | "manifest_sha256"
>;

export class PairsTally {
  readonly #without: Record<WithoutPair, number> = {
    ...{ no_samples: 0, scorer_error: 0, invalid_example: 0 },
    ...{ all_passed: 0, all_failed: 0, below_margin: 0, no_length_match: 0 },
  };
  readonly #characters = { chosen: 0, rejected: 0 };
  readonly #tokens = { chosen: 0, rejected: 0 };
  #tokensKnown = true;
  readonly #n = {
    ...{ n_prompts: 0, n_with_pair: 0, n_pairs: 0, n_eligible: 0 },
    ...{ n_labels: 0, n_good: 0, n_samples: 0, n_repeated: 0, n_scorer_errors: 0 },
  };

  add(pack: Candidates, { pairs, eligible, apart }: Choice): void {
    const n = this.#n;
    n.n_prompts++;
    n.n_samples += pack.samples;
    n.n_repeated += pack.samples - pack.different;
    n.n_scorer_errors += pack.broken;
    n.n_labels += pack.candidates.length;
    n.n_good += pack.candidates.filter(({ reward }) => passes(reward)).length;
    n.n_pairs += pairs.length;
    n.n_eligible += eligible;
    if (pairs.length > 0) n.n_with_pair++;
    else this.#without[whyNone(pack, apart)]++;
    for (const pair of pairs) this.#measure(pair);
  }

  #measure(pair: Preference): void {
    for (const side of ["chosen", "rejected"] as const) {
      this.#characters[side] += pair[side].characters;
      this.#tokens[side] += pair[side].tokens ?? 0;
      if (pair[side].tokens === null) this.#tokensKnown = false;
    }
  }

  get counts(): Counts {
    const { n_prompts, n_with_pair, n_pairs, n_labels, n_good } = this.#n;
    const n_without_pair = n_prompts - n_with_pair;
    const mean = (sums: { chosen: number; rejected: number }) =>
      n_pairs === 0 ? null : { chosen: sums.chosen / n_pairs, rejected: sums.rejected / n_pairs };
    return {
      ...this.#n,
      n_without_pair,
      share_without_pair: n_without_pair / n_prompts,
      without_pair: { ...this.#without },
      n_bad: n_labels - n_good,
      mean_characters: mean(this.#characters),
      mean_tokens: this.#tokensKnown ? mean(this.#tokens) : null,
    };
  }
}

/** The first that applies. A text without a reward might have made the pair, so it comes first. */
function whyNone(pack: Candidates, apart: number): WithoutPair {
  const { samples, broken, invalid, candidates } = pack;
  if (samples === 0) return "no_samples";
  if (broken > 0) return "scorer_error";
  if (invalid > 0) return "invalid_example";
  const first = candidates[0]?.reward ?? null;
  if (candidates.every(({ reward }) => reward === first)) {
    return passes(first) ? "all_passed" : "all_failed";
  }
  return apart === 0 ? "below_margin" : "no_length_match";
}
