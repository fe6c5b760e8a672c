/** The messages of customers: a problem, an order and a number of days each. */

import type { Split } from "../../core/environment.ts";
import { rngAt, shuffled } from "../../core/rng.ts";

export interface Customer {
  readonly message: string;
  /** In a few words, as a reply would name it. */
  readonly problem: string;
  readonly order: string;
  /** What is done about it. */
  readonly remedy: string;
  readonly days: number;
}

const PROBLEMS = [
  ["my parcel has not arrived after DAYS days", "the late parcel", "We ask the carrier today"],
  ["the lamp was broken when I opened the box", "the broken lamp", "We send a new one"],
  ["I was charged twice", "the double charge", "We refund the second charge"],
  ["the shoes are too small", "the wrong size", "We send a label for the return"],
  ["I cannot log in since my phone was replaced", "the login", "We send you a new link"],
  ["I cancelled, but a new bill came", "the bill after your cancellation", "We cancel the bill"],
  ["a part is missing from the box", "the missing part", "We post the part"],
  ["the invoice has the wrong address", "the address on your invoice", "We correct the invoice"],
] as const;

const OPENINGS = ["Hello,", "Hi,", "Good morning,", "To whom it may concern,"];
const ENDINGS = [
  "Please help.",
  "What now?",
  "I am quite upset.",
  "Thanks in advance.",
  "Sort it out.",
];
const SHARES: Readonly<Record<Split, readonly [from: number, to: number]>> = {
  train: [0, 480],
  dev: [480, 560],
  holdout: [560, 720],
};

export function customers(split: Split): Customer[] {
  const all = PROBLEMS.flatMap((problem) =>
    OPENINGS.flatMap((opening) =>
      ENDINGS.flatMap((ending) =>
        [0, 1, 2, 3, 4].map((n) => [problem, opening, ending, n] as const),
      ),
    ),
  );
  const mixed = shuffled(all, rngAt("support-replies", "customers"));
  return mixed.slice(...SHARES[split]).map(([[text, problem, remedy], opening, ending], i) => {
    const rng = rngAt("support-replies", split, i);
    const [order, days] = [String(10_000 + rng.below(90_000)), 2 + rng.below(12)];
    const trouble = text.replace("DAYS", String(days));
    return {
      message: `${opening} order ${order}: ${trouble}. ${ending}`,
      problem,
      order,
      remedy,
      days,
    };
  });
}
