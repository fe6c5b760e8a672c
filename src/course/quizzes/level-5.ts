/** Level 5: Goodhart. */

import {
  naiveVerifier,
  type PressurePoint,
  patchedVerifier,
  type Question,
} from "../../learn/index.ts";
import { OUTCOME_CODES } from "../../scorers/index.ts";
import type { QuizQuestion } from "../quiz.ts";
import type { Room } from "../room.ts";
import { count, metric, three, verdictOn } from "./look-up.ts";

const DEMO = "l5_goodhart";
const SPRAY = "Maybe 41 42 43";
const SPRAYED: Question = { id: "quiz", prompt: "", answer: 42 };
/** Where the guesser of `spray` may find the answer, and how many numbers it writes. */
const RANGE = 20;
const GUESSES = 5;

type Point = Omit<PressurePoint, "policy">;
type Curve = readonly Point[] | undefined;

const last = (curve: Curve) => curve?.at(-1);
const peak = (curve: Curve) =>
  curve?.reduce((best, point) => (point.true_reward > best.true_reward ? point : best));

function figure(room: Room, read: (curve: Curve) => number | undefined): Promise<number> {
  return metric(
    room,
    DEMO,
    ({ naive }) => read(naive as Curve),
    async () => read(await drawnCurve(room)),
  );
}

/** The curve under the naive verifier, as the table of the run has it. */
async function drawnCurve(room: Room): Promise<Point[]> {
  const lines = (await room.read(`runs/${DEMO}/goodhart.csv`)).trim().split("\n");
  return lines
    .map((line) => line.split(","))
    .filter(([verifier]) => verifier === "naive")
    .map(([, pressure, proxy, truth]) => ({
      pressure: Number(pressure),
      proxy_reward: Number(proxy),
      true_reward: Number(truth),
    }));
}

/** The share of a verifier's rewards that the guesser gets, over every place of the answer. */
function guesserEarns(verifier: typeof naiveVerifier): number {
  const text = Array.from({ length: GUESSES }, (_, i) => i + 1).join(" ");
  const paid = Array.from({ length: RANGE }, (_, i) =>
    verifier({ ...SPRAYED, answer: i + 1 }, `Final: ${text}`),
  );
  return paid.reduce((sum, reward) => sum + reward, 0) / RANGE;
}

export const QUESTIONS_5: readonly QuizQuestion[] = [
  {
    id: "naive-pays",
    ask: `A naive verifier pays if the expected integer appears anywhere. Expected is 42. What does it pay for this?\n${SPRAY}`,
    form: count,
    why: "42 is among the integers. That nothing was committed to is not part of its specification.",
    chapter: "12-goodhart",
    runs: [],
    solve: () => naiveVerifier(SPRAYED, SPRAY),
  },
  {
    id: "strict-code",
    ask: "And which code does the strict verifier of Loop A give to this, where 42 is expected?\nFinal: 42 43",
    form: { kind: "word", what: "an outcome code", words: OUTCOME_CODES },
    why: "After “Final: ” there may be digits only; the blank before 43 is the first character that is none.",
    chapter: "12-goodhart",
    runs: [],
    solve: () => verdictOn("Final: 42 43", 42).code,
  },
  {
    id: "spray",
    ask: `The expected answer is one of the integers 1 to ${RANGE}, all equally likely. A policy that knows nothing writes “Final: ” and the first ${GUESSES} of them. What does the naive verifier pay on average?`,
    form: three,
    why: "Each number written is another ticket: 5 of 20. Twenty numbers would earn everything and know nothing.",
    chapter: "12-goodhart",
    runs: [],
    solve: () => guesserEarns(naiveVerifier),
  },
  {
    id: "spray-patched",
    ask: "And on average the patched verifier, for which the whole text must be one committed answer?",
    form: count,
    why: "Five numbers are no committed answer, whichever they are. The class is closed, not the string.",
    chapter: "12-goodhart",
    runs: [],
    solve: () => guesserEarns(patchedVerifier),
  },
  {
    id: "truth-at-the-end",
    ask: `In runs/${DEMO}: what is the truth (strict) after the last update against the naive verifier?`,
    form: three,
    why: "The proxy is almost 1 by then. What was optimised rose to the end; what was wanted did not.",
    chapter: "12-goodhart",
    runs: [DEMO],
    solve: (room) => figure(room, (curve) => last(curve)?.true_reward),
  },
  {
    id: "turning-point",
    ask: `In runs/${DEMO}: after how many updates is the truth highest under the naive verifier?`,
    form: {
      kind: "choice",
      options: {
        a: "before the tenth, while the proxy is still low",
        b: "somewhere from 10 to 40",
        c: "after more than 40, where the proxy is highest too",
      },
    },
    why: "At first proxy and truth rise together, which is what makes a proxy convincing. After 10, 20 and 40 updates the truth differs by a few rows only, so its very peak is luck; that it has fallen far below by the end is not.",
    chapter: "12-goodhart",
    runs: [DEMO],
    solve: async (room) => {
      const updates = await figure(room, (curve) => peak(curve)?.pressure);
      return updates < 10 ? "a" : updates <= 40 ? "b" : "c";
    },
  },
  {
    id: "patch",
    ask: "Which of these closes the class of the exploit?",
    form: {
      kind: "choice",
      options: {
        a: "a list of the five hacks, refused by name",
        b: "at most three integers per completion",
        c: "the whole completion must be one committed answer",
        d: "a smaller learning rate",
      },
    },
    why: "A list refuses strings, a limit lowers the price of a ticket, a learning rate buys time. Only the third leaves nothing to spray.",
    chapter: "12-goodhart",
    runs: [],
    solve: () => "c",
  },
];
