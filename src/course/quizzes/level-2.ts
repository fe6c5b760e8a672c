/** Level 2: credit assignment, tokens and text. */

import { expectedReward, PAYS, softmax, type TwoStepStep } from "../../learn/index.ts";
import type { CheckContext } from "../check-context.ts";
import { CODE, choice, four, logLine, metric, questions, strictScore, three } from "./answers.ts";

const NO_CREDIT = "l2_sabotage_no_credit_step1";
const FIXED = "l2_fixed_two_step";
const [[ax = 0, ay = 0] = [], [bx = 0, by = 0] = []] = PAYS;

/** Always chooses Y. */
const ALWAYS_Y = [0, 1000];

function chanceOfB(context: CheckContext, run: string): Promise<number> {
  return metric(
    context,
    run,
    (m) => (m.first_probabilities as number[] | undefined)?.[1],
    async () => softmax((await logLine<TwoStepStep>(context, run, -1)).policy_after.first)[1],
  );
}

export const QUESTIONS_2 = questions("03-bandit-and-sequence", [
  {
    id: "two-blanks",
    ask: "The expected answer is 323. Which code does the verifier give to this completion, with two spaces after the colon?\nFinal:  323",
    form: CODE,
    why: "The specification has one space. The policy samples tokens; the verifier reads the text, in which the second space counts.",
    chapter: "04-tokens-and-completions",
    solve: () => strictScore("Final:  323", 323).code,
  },
  {
    id: "line-break",
    ask: "Which code does it give with a line break in place of the space? (shown as \\n)\nFinal:\\n323",
    form: CODE,
    why: "The whole completion must be one line, and this is checked first.",
    chapter: "04-tokens-and-completions",
    solve: () => strictScore("Final:\n323", 323).code,
  },
  {
    id: "log-probability",
    ask: "A completion has two tokens with conditional probabilities 0.9 and 0.1. What is its log-probability (natural)?",
    form: three,
    why: "Probabilities multiply, so log-probabilities add: ln 0.9 + ln 0.1 = ln 0.09.",
    chapter: "05-log-probs-and-signs",
    solve: () => Math.log(0.9) + Math.log(0.1),
  },
  {
    id: "no-credit",
    ask: `With which probability does the first decision choose B at the end of runs/${NO_CREDIT}?`,
    form: four,
    why: "No update changed it, so it still has its initial probability.",
    runs: [NO_CREDIT],
    solve: (context) => chanceOfB(context, NO_CREDIT),
  },
  {
    id: "ceiling",
    ask: `AX pays ${ax}, AY ${ay}, BX ${bx}, BY ${by}. The first decision chooses A or B with probability 0.5, the second always Y. What is the expected reward?`,
    form: four,
    why: "Half of AY plus half of BY. A perfect second decision cannot make up for a first that does not learn.",
    solve: () => expectedReward({ first: [0, 0], second: [ALWAYS_Y, ALWAYS_Y] }),
  },
  {
    id: "credit-back",
    ask: `With which probability does it choose B at the end of runs/${FIXED}?`,
    form: four,
    why: "It is the second of first_probabilities in summary.json: the same final reward, credited to both decisions.",
    runs: [FIXED],
    solve: (context) => chanceOfB(context, FIXED),
  },
  {
    id: "macro-action",
    ask: "What is a macro-action of a language model?",
    form: choice({
      a: "one token",
      b: "the whole completion",
      c: "one update of the weights",
      d: "the last token, which gets the reward",
    }),
    why: "In the bandit view the completion is one action; its tokens are the micro-actions of the sequence view.",
    solve: () => "b",
  },
]);
