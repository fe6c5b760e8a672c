/** Counts what came of pairing: pairs, labels, and why the other prompts gave none. */

import { passes } from "../core/score.ts";
import type { PairsSummary, WithoutPair } from "../runs/preference-schemas.ts";
import type { Choice, Preference } from "./pairs-choose.ts";
import type { ScoredPack } from "./pairs-score.ts";

type Counted = Omit<
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
  #allCounted = true;
  #prompts = 0;
  #withPair = 0;
  #pairs = 0;
  #eligible = 0;
  #samples = 0;
  #different = 0;
  #broken = 0;
  #labels = 0;
  #good = 0;

  add(pack: ScoredPack, choice: Choice): void {
    this.#prompts++;
    this.#samples += pack.drawn;
    this.#different += pack.different;
    this.#broken += pack.broken;
    this.#labels += pack.candidates.length;
    this.#good += pack.candidates.filter(({ reward }) => passes(reward)).length;
    this.#pairs += choice.pairs.length;
    this.#eligible += choice.eligible;
    if (choice.pairs.length > 0) this.#withPair++;
    else this.#without[whyNone(pack, choice)]++;
    for (const pair of choice.pairs) this.#measure(pair);
  }

  #measure(pair: Preference): void {
    for (const side of ["chosen", "rejected"] as const) {
      this.#characters[side] += pair[side].characters;
      this.#tokens[side] += pair[side].tokens ?? 0;
      if (pair[side].tokens === null) this.#allCounted = false;
    }
  }

  get counted(): Counted {
    const without = this.#prompts - this.#withPair;
    const meanOf = (sums: { chosen: number; rejected: number }) => ({
      chosen: sums.chosen / this.#pairs,
      rejected: sums.rejected / this.#pairs,
    });
    return {
      n_prompts: this.#prompts,
      n_with_pair: this.#withPair,
      n_without_pair: without,
      share_without_pair: without / this.#prompts,
      without_pair: { ...this.#without },
      n_pairs: this.#pairs,
      n_eligible: this.#eligible,
      n_labels: this.#labels,
      n_good: this.#good,
      n_bad: this.#labels - this.#good,
      n_samples: this.#samples,
      n_repeated: this.#samples - this.#different,
      n_scorer_errors: this.#broken,
      mean_characters: this.#pairs === 0 ? null : meanOf(this.#characters),
      mean_tokens: this.#pairs === 0 || !this.#allCounted ? null : meanOf(this.#tokens),
    };
  }
}

/** The first that applies. A text without a reward might have made the pair, so nothing else is said. */
function whyNone(
  { drawn, broken, invalid, candidates }: ScoredPack,
  { apart }: Choice,
): WithoutPair {
  if (drawn === 0) return "no_samples";
  if (broken > 0) return "scorer_error";
  if (invalid > 0) return "invalid_example";
  const first = candidates[0]?.reward ?? null;
  if (candidates.every(({ reward }) => reward === first)) {
    return passes(first) ? "all_passed" : "all_failed";
  }
  return apart === 0 ? "below_margin" : "no_length_match";
}
