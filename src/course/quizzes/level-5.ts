/** Level 5: Goodhart. */

import {
  naiveVerifier,
  type PressurePoint,
  patchedVerifier,
  type Question,
} from "../../learn/index.ts";
import type { CheckContext } from "../check-context.ts";
import { CODE, choice, count, metric, questions, strictScore, three } from "./answers.ts";

const DEMO = "l5_goodhart";
const SPRAY = "Maybe 41 42 43";
const SPRAYED: Question = { id: "quiz", prompt: "", answer: 42 };
/** The guesser of `spray`: the range of the answer, and how many numbers it writes. */
const RANGE = 20;
const GUESSES = 5;

type Point = Omit<PressurePoint, "policy">;
type Curve = readonly Point[] | undefined;

const last = (curve: Curve) => curve?.at(-1);
const peak = (curve: Curve) =>
  curve?.reduce((best, point) => (point.true_reward > best.true_reward ? point : best));

function figure(context: CheckContext, read: (curve: Curve) => number | undefined) {
  return metric(
    context,
    DEMO,
    ({ naive }) => read(naive as Curve),
    async () => read(await drawnCurve(context)),
  );
}

/** The curve under the naive verifier, from the CSV file of the run. */
async function drawnCurve(context: CheckContext): Promise<Point[]> {
  const lines = (await context.read(`runs/${DEMO}/goodhart.csv`)).trim().split("\n");
  return lines
    .map((line) => line.split(","))
    .filter(([verifier]) => verifier === "naive")
    .map(([, pressure, proxy, truth]) => ({
      pressure: Number(pressure),
      proxy_reward: Number(proxy),
      true_reward: Number(truth),
    }));
}

/** The mean reward of the guesser over all answers. */
function guesserReward(verifier: typeof naiveVerifier): number {
  const text = Array.from({ length: GUESSES }, (_, i) => i + 1).join(" ");
  const rewards = Array.from({ length: RANGE }, (_, i) =>
    verifier({ ...SPRAYED, answer: i + 1 }, `Final: ${text}`),
  );
  return rewards.reduce((sum, reward) => sum + reward, 0) / RANGE;
}

export const QUESTIONS_5 = questions("12-goodhart", [
  {
    id: "naive-pays",
    ask: `A naive verifier gives 1 if the expected integer appears anywhere. The expected answer is 42. Which reward does it give to this?\n${SPRAY}`,
    form: count,
    why: "42 is among the integers. The naive specification does not ask for one committed answer.",
    solve: () => naiveVerifier(SPRAYED, SPRAY),
  },
  {
    id: "strict-code",
    ask: "Which code does the strict verifier of Loop A give to this, where 42 is expected?\nFinal: 42 43",
    form: CODE,
    why: "After “Final: ” only digits are allowed; the space before 43 is the first other character.",
    solve: () => strictScore("Final: 42 43", 42).code,
  },
  {
    id: "spray",
    ask: `The expected answer is one of the integers 1 to ${RANGE}, all equally likely. A policy that knows nothing writes “Final: ” and the first ${GUESSES} of them. What is its mean reward from the naive verifier?`,
    form: three,
    why: "Five of 20 answers are among its numbers. With all twenty numbers its reward would be 1.",
    solve: () => guesserReward(naiveVerifier),
  },
  {
    id: "spray-patched",
    ask: "What is its mean reward from the patched verifier, for which the whole text must be one committed answer?",
    form: count,
    why: "Five numbers are not one committed answer, whichever they are. The patch closes the class of exploits, not one string.",
    solve: () => guesserReward(patchedVerifier),
  },
  {
    id: "truth-at-the-end",
    ask: `In runs/${DEMO}: what is the true reward (strict verifier) after the last update against the naive verifier?`,
    form: three,
    why: "The proxy is almost 1 by then. The proxy rose to the end; the true reward fell.",
    runs: [DEMO],
    solve: (context) => figure(context, (curve) => last(curve)?.true_reward),
  },
  {
    id: "turning-point",
    ask: `In runs/${DEMO}: after how many updates is the true reward highest under the naive verifier?`,
    form: choice({
      a: "before the tenth, while the proxy is still low",
      b: "from 10 to 40",
      c: "after more than 40, where the proxy is highest too",
    }),
    why: "At first proxy and true reward rise together. After 10, 20 and 40 updates the true reward differs by a few rows only, so the exact peak depends on the seed; the fall by the end does not.",
    runs: [DEMO],
    solve: async (context) => {
      const updates = await figure(context, (curve) => peak(curve)?.pressure);
      return updates < 10 ? "a" : updates <= 40 ? "b" : "c";
    },
  },
  {
    id: "patch",
    ask: "Which of these closes the class of the exploit?",
    form: choice({
      a: "reject a list of the five hacks",
      b: "at most three integers per completion",
      c: "the whole completion must be one committed answer",
      d: "a smaller learning rate",
    }),
    why: "A list rejects five strings, a limit allows fewer guesses, a learning rate only delays. Only the third removes the exploit.",
    solve: () => "c",
  },
]);
