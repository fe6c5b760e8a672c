/** Level 0.5: selection. */

import { pickBest, type ScoredSample } from "../../loops/index.ts";
import { passAtK } from "../../stats/index.ts";
import { ensure } from "../check-context.ts";
import { choice, count, four, metric, questions } from "./answers.ts";

const BUILT = "l0_5_build_sel_n4";
const RANDOM = [1, 2, 3, 4, 5].map((i) => `l0_5_sabotage_sel_random_${i}`);
const FIXED = ["l0_5_fixed_sel_n4", "l0_5_fixed_sel_n4_again"];
const [FIRST_RANDOM = ""] = RANDOM;

/** Equal rewards, so that only the tie-break decides. */
const TIED: Record<string, ScoredSample> = {
  a: tied(0, "Final: 18", -2),
  b: tied(1, "Final: 18 ", -0.7),
  c: tied(2, "Final: 18", -0.7),
};

function tied(index: number, completion: string, sum_logprob: number): ScoredSample {
  return { index, completion, sum_logprob, reward: 1, code: "ok", details: null };
}

export const QUESTIONS_0_5 = questions("07-selection-filtering-learning", [
  {
    id: "gain",
    ask: `How much higher is the pass rate of best of four than that of the first sample in runs/${BUILT}?`,
    form: four,
    why: "It is metrics.delta: the pass rate of the selected samples minus that of the first samples, on the same packs.",
    runs: [BUILT],
    solve: (context) => metric(context, BUILT, (m) => m.delta),
  },
  {
    id: "lost",
    ask: `How many examples of runs/${BUILT} passed with the first sample and fail with the selected one?`,
    form: count,
    why: "Selecting by the scorer that also measures cannot lose. That is why the gain is an upper bound.",
    runs: [BUILT],
    solve: (context) => metric(context, BUILT, (m) => m.lost),
  },
  {
    id: "pass-at-k",
    ask: "Of 8 samples of one example 2 pass. What is the unbiased estimate of pass@4?",
    form: four,
    why: "1 − C(6,4)/C(8,4) = 1 − 15/70: the probability that four of the eight are not all among the six that fail.",
    solve: () => passAtK(8, 2, 4) as number,
  },
  {
    id: "alarm",
    ask: `Which alarm is in summary.json of runs/${FIRST_RANDOM}?`,
    form: { kind: "word", what: "an alarm code" },
    why: "The selection policy is called twice, and with the samples in another order. A random one gives different results.",
    runs: [FIRST_RANDOM],
    solve: async (context) => {
      const [alarm] = (await context.run(FIRST_RANDOM)).summary.alarms;
      ensure(alarm !== undefined, {
        expected: `an alarm in runs/${FIRST_RANDOM}`,
        found: "none: its tie-break was not random",
        where: "assignments/selection_policy.ts",
        next: "Make tieBreakKey random, then run the command again, with --force.",
      });
      return alarm.code;
    },
  },
  {
    id: "hashes",
    ask: "How many different hashes of results.jsonl do the five sabotaged and the two fixed runs have together?",
    form: count,
    why: "Count the different results_sha256 of the summaries: a random rule gives a new one each time, a deterministic rule gives one.",
    chapter: "11-measurement-hygiene",
    runs: [...RANDOM, ...FIXED],
    solve: async (context) => {
      const runs = await Promise.all([...RANDOM, ...FIXED].map((run) => context.run(run)));
      return new Set(runs.map(({ summary }) => summary.results_sha256)).size;
    },
  },
  {
    id: "same-rate",
    ask: `The random tie-break changed which samples were selected. By how many does the number of passing examples differ between runs/${FIRST_RANDOM} and runs/${BUILT}?`,
    form: count,
    why: "Ties are between equal rewards, so the pass rate cannot show the randomness. The hashes can.",
    runs: [FIRST_RANDOM, BUILT],
    solve: async (context) => {
      const random = await metric(context, FIRST_RANDOM, (m) => m.n_pass);
      return Math.abs(random - (await metric(context, BUILT, (m) => m.n_pass)));
    },
  },
  {
    id: "tie-break",
    ask: "Three samples have the same reward. Which one does your repaired rule select: higher log-probability, then shorter, then by text?",
    form: choice(
      Object.fromEntries(
        Object.entries(TIED).map(([letter, { completion, sum_logprob: logprob }]) => [
          letter,
          `${JSON.stringify(completion)}, log-probability ${logprob}`,
        ]),
      ),
    ),
    why: "−0.7 is more probable than −2; of the two at −0.7 the one without the trailing space is shorter.",
    chapter: "05-log-probs-and-signs",
    solve: () => {
      const best = pickBest(Object.values(TIED));
      return Object.keys(TIED).find((letter) => TIED[letter] === best) as string;
    },
  },
]);
