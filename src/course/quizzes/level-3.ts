/** Level 3: the KL penalty. */

import {
  CANDIDATES,
  type Candidate,
  chooseWithKlPenalty,
  klDivergence,
} from "../../learn/index.ts";
import type { CheckContext } from "../check-context.ts";
import type { AnswerForm } from "../quiz.ts";
import { four, metric, questions, three } from "./answers.ts";

const DEMO = "l3_build_kl_demo";

const NAME: AnswerForm = {
  kind: "word",
  what: "a name from the table",
  words: CANDIDATES.map(({ name }) => name),
};
const TABLE = CANDIDATES.map(({ name, reward, kl }) => `${name} ${reward} at KL ${kl}`).join(", ");

const named = (name: string) => CANDIDATES.find((one) => one.name === name) as Candidate;

interface SweepPoint {
  readonly beta: number;
  readonly kl: number;
}

const atOneTenth = ({ beta }: SweepPoint) => beta === 0.1;

/** The sweep from the CSV file of the run. */
async function sweptRows(context: CheckContext): Promise<SweepPoint[]> {
  const [, ...lines] = (await context.read(`runs/${DEMO}/kl_tradeoff.csv`)).trim().split("\n");
  return lines.map((line) => {
    const [beta, , kl] = line.split(",").map(Number);
    return { beta: beta ?? Number.NaN, kl: kl ?? Number.NaN };
  });
}

export const QUESTIONS_3 = questions("09-kl", [
  {
    id: "beta-half",
    ask: `The rewards of the built-in table: ${TABLE}. Which candidate has the largest reward − β · KL at β = 0.5?`,
    form: NAME,
    why: "Run: ./lockedroom kl-choice --beta 0.5. Half of the KL is subtracted from each reward.",
    solve: () => chooseWithKlPenalty(CANDIDATES, 0.5).name,
  },
  {
    id: "beta-one",
    ask: "Which candidate of that table wins at β = 1.0?",
    form: NAME,
    why: "A larger β prefers a smaller KL: 0.45 − 0.1 is the largest value in the table.",
    solve: () => chooseWithKlPenalty(CANDIDATES, 1).name,
  },
  {
    id: "beta-zero",
    ask: "Which one wins at β = 0?",
    form: NAME,
    why: "Without a KL penalty the highest reward wins, even if that reward is an exploit.",
    solve: () => chooseWithKlPenalty(CANDIDATES, 0).name,
  },
  {
    id: "break-even",
    ask: "At which β are “improved” and “bold” equally good?",
    form: three,
    why: "Where the extra reward equals β times the extra KL: (0.75 − 0.6) / (0.9 − 0.35).",
    solve: () => {
      const [near, far] = [named("improved"), named("bold")];
      return (far.reward - near.reward) / (far.kl - near.kl);
    },
  },
  {
    id: "drift",
    ask: `What is the KL, in nats, of the policy at β = 0.1 in runs/${DEMO}?`,
    form: four,
    why: "It is the KL in the row of β = 0.1: kl_tradeoff.csv, or metrics.points in summary.json.",
    runs: [DEMO],
    solve: (context) =>
      metric(
        context,
        DEMO,
        ({ points }) => (points as readonly SweepPoint[] | undefined)?.find(atOneTenth)?.kl,
        async () => (await sweptRows(context)).find(atOneTenth)?.kl,
      ),
  },
  {
    id: "kl-by-hand",
    ask: "The reference answers yes with probability 0.9, the new policy with 0.5. What is KL(policy ‖ reference) in nats?",
    form: three,
    why: "0.5 · ln(0.5/0.9) + 0.5 · ln(0.5/0.1). It is the mean log-ratio to the reference, under the new policy.",
    solve: () => klDivergence([0.5, 0.5], [0.9, 0.1]),
  },
  {
    id: "reference",
    ask: "The policy equals its reference. What is the KL?",
    form: { kind: "count" },
    why: "Every log-ratio is ln 1 = 0. KL measures distance from the reference, not quality.",
    solve: () => klDivergence([0.9, 0.1], [0.9, 0.1]),
  },
]);
