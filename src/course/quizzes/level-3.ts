/** Level 3: the leash. */

import { CANDIDATES, type Candidate, chooseWithKlPenalty, klDivergence } from "../../index.ts";
import type { Form, QuizQuestion } from "../quiz.ts";
import type { Room } from "../room.ts";
import { four, metric, three } from "./look-up.ts";

const DEMO = "l3_build_kl_demo";

const NAME: Form = {
  kind: "word",
  what: "a name of the table",
  words: CANDIDATES.map(({ name }) => name),
};
const TABLE = CANDIDATES.map(({ name, reward, kl }) => `${name} ${reward} at KL ${kl}`).join(", ");

const named = (name: string) => CANDIDATES.find((one) => one.name === name) as Candidate;

interface SweepPoint {
  readonly beta: number;
  readonly kl: number;
}

const atOneTenth = ({ beta }: SweepPoint) => beta === 0.1;

/** The sweep as its table has it. */
async function sweptRows(room: Room): Promise<SweepPoint[]> {
  const [, ...lines] = (await room.read(`runs/${DEMO}/kl_tradeoff.csv`)).trim().split("\n");
  return lines.map((line) => {
    const [beta, , kl] = line.split(",").map(Number);
    return { beta: beta ?? Number.NaN, kl: kl ?? Number.NaN };
  });
}

export const QUESTIONS_3: readonly QuizQuestion[] = [
  {
    id: "half-leash",
    ask: `The rewards of the built-in table: ${TABLE}. Which candidate has the largest reward − β · KL at β = 0.5?`,
    form: NAME,
    why: "See it with: ./lockedroom kl-choice --beta 0.5. Each candidate pays half of its drift.",
    chapter: "09-kl",
    runs: [],
    solve: () => chooseWithKlPenalty(CANDIDATES, 0.5).name,
  },
  {
    id: "full-leash",
    ask: "Which candidate of that table wins at β = 1.0?",
    form: NAME,
    why: "A tighter leash prefers a smaller step: 0.45 − 0.1 is more than any other candidate keeps.",
    chapter: "09-kl",
    runs: [],
    solve: () => chooseWithKlPenalty(CANDIDATES, 1).name,
  },
  {
    id: "no-leash",
    ask: "Which one wins at β = 0?",
    form: NAME,
    why: "Without a price on drift the highest reward wins, and nobody asks whether that reward means anything.",
    chapter: "09-kl",
    runs: [],
    solve: () => chooseWithKlPenalty(CANDIDATES, 0).name,
  },
  {
    id: "break-even",
    ask: "At which β are “improved” and “bold” equally good?",
    form: three,
    why: "Where the extra reward pays exactly for the extra drift: (0.75 − 0.6) / (0.9 − 0.35).",
    chapter: "09-kl",
    runs: [],
    solve: () => {
      const [near, far] = [named("improved"), named("bold")];
      return (far.reward - near.reward) / (far.kl - near.kl);
    },
  },
  {
    id: "drift",
    ask: `How far, in nats, has the policy at β = 0.1 drifted in runs/${DEMO}?`,
    form: four,
    why: "It is the KL in the row of β = 0.1: kl_tradeoff.csv, or metrics.points in summary.json.",
    chapter: "09-kl",
    runs: [DEMO],
    solve: (room) =>
      metric(
        room,
        DEMO,
        ({ points }) => (points as readonly SweepPoint[] | undefined)?.find(atOneTenth)?.kl,
        async () => (await sweptRows(room)).find(atOneTenth)?.kl,
      ),
  },
  {
    id: "kl-by-hand",
    ask: "The reference answers yes with probability 0.9, the new policy with 0.5. What is KL(policy ‖ reference) in nats?",
    form: three,
    why: "0.5 · ln(0.5/0.9) + 0.5 · ln(0.5/0.1). The mean is taken under the new policy, over log-ratios to the reference.",
    chapter: "09-kl",
    runs: [],
    solve: () => klDivergence([0.5, 0.5], [0.9, 0.1]),
  },
  {
    id: "reference",
    ask: "A policy is its own reference, unchanged. What is its KL?",
    form: { kind: "count" },
    why: "Every log-ratio is ln 1 = 0. KL measures distance from the reference, not quality.",
    chapter: "09-kl",
    runs: [],
    solve: () => klDivergence([0.9, 0.1], [0.9, 0.1]),
  },
];
