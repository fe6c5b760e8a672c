/** Level 0.5: selection. */

import { pickBest, type ScoredSample } from "../../loops/index.ts";
import { passAtK } from "../../stats/index.ts";
import { demand } from "../gap.ts";
import type { QuizQuestion } from "../quiz.ts";
import { count, four, metric } from "./look-up.ts";

const BUILT = "l0_5_build_sel_n4";
const RANDOM = [1, 2, 3, 4, 5].map((i) => `l0_5_sabotage_sel_random_${i}`);
const FIXED = ["l0_5_fixed_sel_n4", "l0_5_fixed_sel_n4_again"];
const [FIRST_RANDOM = ""] = RANDOM;

/** Equal rewards, so that only the tie-break decides. */
const TIED: Record<string, ScoredSample> = Object.fromEntries(
  [
    ["a", "Final: 18", -2],
    ["b", "Final: 18 ", -0.7],
    ["c", "Final: 18", -0.7],
  ].map(([letter, completion, logprob], index) => [
    letter,
    {
      index,
      completion: String(completion),
      sum_logprob: Number(logprob),
      reward: 1,
      code: "ok",
      details: null,
    },
  ]),
);

export const QUESTIONS_0_5: readonly QuizQuestion[] = [
  {
    id: "gain",
    ask: `By how much does choosing among four beat the first sample in runs/${BUILT}?`,
    form: four,
    why: "It is metrics.delta: the chosen samples' pass rate minus the first samples', on the same packs.",
    chapter: "07-selection-filtering-learning",
    runs: [BUILT],
    solve: (room) => metric(room, BUILT, (m) => m.delta),
  },
  {
    id: "lost",
    ask: `How many examples of runs/${BUILT} passed with the first sample and fail with the chosen one?`,
    form: count,
    why: "The best by the scorer that also measures cannot lose. That is why the gain is an upper bound, and no surprise.",
    chapter: "07-selection-filtering-learning",
    runs: [BUILT],
    solve: (room) => metric(room, BUILT, (m) => m.lost),
  },
  {
    id: "pass-at-k",
    ask: "Of 8 samples of one example 2 pass. What is the unbiased estimate of pass@4?",
    form: four,
    why: "1 − C(6,4)/C(8,4) = 1 − 15/70: the chance that four of the eight are not all among the six that fail.",
    chapter: "07-selection-filtering-learning",
    runs: [],
    solve: () => passAtK(8, 2, 4) as number,
  },
  {
    id: "alarm",
    ask: `Which alarm stands in summary.json of runs/${FIRST_RANDOM}?`,
    form: { kind: "word", what: "an alarm code" },
    why: "The policy is asked twice, and in another order. One that rolls dice contradicts itself.",
    chapter: "07-selection-filtering-learning",
    runs: [FIRST_RANDOM],
    solve: async (room) => {
      const [alarm] = (await room.run(FIRST_RANDOM)).summary.alarms;
      demand(alarm !== undefined, {
        expected: `an alarm in runs/${FIRST_RANDOM}`,
        found: "none: its tie-break did not roll dice",
        look: "assignments/selection_policy.ts",
        next: "Make tieBreakKey random, then run the command again, with --force.",
      });
      return alarm.code;
    },
  },
  {
    id: "hashes",
    ask: "How many different hashes of results.jsonl have the five sabotaged and the two fixed runs, all together?",
    form: count,
    why: "Count different results_sha256 of the summaries: dice give a new one each time, a deterministic rule gives one.",
    chapter: "11-measurement-hygiene",
    runs: [...RANDOM, ...FIXED],
    solve: async (room) => {
      const runs = await Promise.all([...RANDOM, ...FIXED].map((run) => room.run(run)));
      return new Set(runs.map(({ summary }) => summary.results_sha256)).size;
    },
  },
  {
    id: "same-rate",
    ask: `The random tie-break changed which samples were chosen. By how many examples does the number that pass differ between runs/${FIRST_RANDOM} and runs/${BUILT}?`,
    form: count,
    why: "Ties are among equal rewards, so the average cannot see the dice. The hashes can.",
    chapter: "07-selection-filtering-learning",
    runs: [FIRST_RANDOM, BUILT],
    solve: async (room) => {
      const random = await metric(room, FIRST_RANDOM, (m) => m.n_pass);
      return Math.abs(random - (await metric(room, BUILT, (m) => m.n_pass)));
    },
  },
  {
    id: "tie-break",
    ask: "Three samples have the same reward. Which one does your repaired rule choose: higher log-probability, then shorter, then by text?",
    form: {
      kind: "choice",
      options: Object.fromEntries(
        Object.entries(TIED).map(([letter, { completion, sum_logprob: logprob }]) => [
          letter,
          `${JSON.stringify(completion)}, log-probability ${logprob}`,
        ]),
      ),
    },
    why: "−0.7 is more probable than −2; of the two at −0.7 the one without the trailing blank is shorter.",
    chapter: "05-log-probs-and-signs",
    runs: [],
    solve: () => {
      const best = pickBest(Object.values(TIED));
      return Object.keys(TIED).find((letter) => TIED[letter] === best) as string;
    },
  },
];
