/** What the labels of a person say: who wins, and whether the place of an answer mattered. */

import type { ReviewFigures, ReviewLabel } from "../../runs/review-schemas.ts";
import { wilsonInterval } from "../../stats/wilson.ts";
import { signTest, winRate } from "../../stats/win-rate.ts";

export function reviewFigures(labels: readonly ReviewLabel[], pairs: number): ReviewFigures {
  const count = (choice: ReviewLabel["better"]) =>
    labels.filter(({ better }) => better === choice).length;
  const [wins, losses, ties, skipped] = [count("b"), count("a"), count("tie"), count(undefined)];
  const { rate, interval, pValue } = winRate({ wins, losses, ties });
  const first = labels.filter(({ better, shown_first }) => better === shown_first).length;
  const chosen = wins + losses;
  return {
    ...{ n_pairs: pairs, n_labelled: labels.length - skipped, n_skipped: skipped },
    ...{ wins, losses, ties },
    win_rate: rate ?? null,
    win_rate_interval: interval ?? null,
    p_value: pValue ?? null,
    first_chosen: {
      ...{ count: first, of: chosen, share: chosen === 0 ? null : first / chosen },
      interval: wilsonInterval(first, chosen) ?? null,
    },
    first_p_value: signTest(first, chosen - first) ?? null,
  };
}
