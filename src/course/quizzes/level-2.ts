/** Level 2: credit, and the border between tokens and text. */

import { expectedReward, PAYS, softmax, type TwoStepStep } from "../../learn/index.ts";
import { OUTCOME_CODES } from "../../scorers/index.ts";
import type { Form, QuizQuestion } from "../quiz.ts";
import type { Room } from "../room.ts";
import { four, logLine, metric, three, verdictOn } from "./look-up.ts";

const NO_CREDIT = "l2_sabotage_no_credit_step1";
const FIXED = "l2_fixed_two_step";
const CODE: Form = { kind: "word", what: "an outcome code", words: OUTCOME_CODES };
const [[ax = 0, ay = 0] = [], [bx = 0, by = 0] = []] = PAYS;

/** Chooses Y for certain, whichever came first. */
const ALWAYS_Y = [0, 1000];

function chanceOfB(room: Room, run: string): Promise<number> {
  return metric(
    room,
    run,
    (m) => (m.first_probabilities as number[] | undefined)?.[1],
    async () => softmax((await logLine<TwoStepStep>(room, run, -1)).policy_after.first)[1],
  );
}

export const QUESTIONS_2: readonly QuizQuestion[] = [
  {
    id: "two-blanks",
    ask: "The expected answer is 323. What does the verifier say to this, with two blanks after the colon?\nFinal:  323",
    form: CODE,
    why: "The specification has one space. The policy sees other tokens, the person sees the same answer, and the verifier judges the text.",
    chapter: "04-tokens-and-completions",
    runs: [],
    solve: () => verdictOn("Final:  323", 323).code,
  },
  {
    id: "line-break",
    ask: "And to the same with a line break in place of the space? (\\n stands for it)\nFinal:\\n323",
    form: CODE,
    why: "The whole completion must be one line, and that is checked before anything else about it.",
    chapter: "04-tokens-and-completions",
    runs: [],
    solve: () => verdictOn("Final:\n323", 323).code,
  },
  {
    id: "log-probability",
    ask: "A completion has two tokens, of probability 0.9 and 0.1 given what stands before. What is its log-probability (natural)?",
    form: three,
    why: "Probabilities multiply, so logarithms add: ln 0.9 + ln 0.1 = ln 0.09.",
    chapter: "05-log-probs-and-signs",
    runs: [],
    solve: () => Math.log(0.9) + Math.log(0.1),
  },
  {
    id: "no-credit",
    ask: `With which probability does the first decision choose B at the end of runs/${NO_CREDIT}?`,
    form: four,
    why: "No update ever reached it, so it tosses the coin that it was born with.",
    chapter: "03-bandit-and-sequence",
    runs: [NO_CREDIT],
    solve: (room) => chanceOfB(room, NO_CREDIT),
  },
  {
    id: "ceiling",
    ask: `AX pays ${ax}, AY ${ay}, BX ${bx}, BY ${by}. The first decision tosses a coin, the second always takes Y. What is the expected reward?`,
    form: four,
    why: "Half of the luck of AY, half of that of BY. A perfect second decision cannot buy back a first that never learns.",
    chapter: "03-bandit-and-sequence",
    runs: [],
    solve: () => expectedReward({ first: [0, 0], second: [ALWAYS_Y, ALWAYS_Y] }),
  },
  {
    id: "credit-back",
    ask: `And with which probability does it choose B at the end of runs/${FIXED}?`,
    form: four,
    why: "It is the second of first_probabilities in summary.json: the same end reward, credited to both decisions.",
    chapter: "03-bandit-and-sequence",
    runs: [FIXED],
    solve: (room) => chanceOfB(room, FIXED),
  },
  {
    id: "macro-action",
    ask: "For a language model: what is a macro-action?",
    form: {
      kind: "choice",
      options: {
        a: "one token",
        b: "the whole completion",
        c: "one update of the weights",
        d: "the last token, where the reward arrives",
      },
    },
    why: "The bandit view takes the completion as one action; its tokens are the micro-actions of the sequence view.",
    chapter: "03-bandit-and-sequence",
    runs: [],
    solve: () => "b",
  },
];
