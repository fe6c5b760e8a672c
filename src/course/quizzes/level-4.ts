/** Level 4: the reward is the specification. */

import { OUTCOME_CODES } from "../../scorers/index.ts";
import type { Form, QuizQuestion } from "../quiz.ts";
import { count, REASON, verdictOn } from "./look-up.ts";

const CODE: Form = { kind: "word", what: "an outcome code", words: OUTCOME_CODES };

/** Spellings that a strict verifier does not read; Number reads all but the last. */
const SPELLINGS = ["016", "+16", "16.0", "1.6e1", "0x10", "1_6"];

export const QUESTIONS_4: readonly QuizQuestion[] = [
  {
    id: "blanks-around",
    ask: 'The expected answer is 12. What does the strict verifier say to this? (the quotes show where it begins and ends)\n"  Final: 12 "',
    form: CODE,
    why: "The specification strips ASCII white space at both ends. Strict is what is written down, not what feels strict.",
    chapter: "10-reward-as-specification",
    runs: [],
    solve: () => verdictOn("  Final: 12 ", 12).code,
  },
  {
    id: "plus-zero",
    ask: "The expected answer is 7. Two rules are broken here; which code does the verifier give?\nFinal: +07",
    form: CODE,
    why: "Rules are checked in a fixed order, and the sign comes before the digits: one completion, one code, always the same.",
    chapter: "10-reward-as-specification",
    runs: [],
    solve: () => verdictOn("Final: +07", 7).code,
  },
  {
    id: "false-positive",
    ask: "A loosened verifier pays 1 for a golden row that wants 0. What is that?",
    form: {
      kind: "choice",
      options: { a: "a false negative", b: "a false positive", c: "a scorer error" },
    },
    why: "It was paid and should not have been: a loophole. An unfair zero would be the false negative.",
    chapter: "10-reward-as-specification",
    runs: [],
    solve: () => "b",
  },
  {
    id: "one-kindness",
    ask: `A kind verifier gives what follows “Final: ” to JavaScript's Number. Expected is 16. How many of these does it pay that the strict one refuses?\n${SPELLINGS.join(", ")}`,
    form: count,
    why: "Number reads all but 1_6 as 16, and the strict verifier none. One kind line opened five ways to be paid, of which perhaps one was meant.",
    chapter: "10-reward-as-specification",
    runs: [],
    solve: () =>
      SPELLINGS.filter(
        (text) => Number(text) === 16 && verdictOn(`Final: ${text}`, 16).reward === 0,
      ).length,
  },
  {
    id: "quiet-edit",
    ask: "You edit the scorer, keep its version, and evaluate again. With which reason does the gate refuse to compare with the old run?",
    form: REASON,
    why: "A scorer is identified by its code too. Other code under the same version is worse than a new version: nobody was told.",
    chapter: "10-reward-as-specification",
    runs: [],
    solve: () => "instrument_changed_without_version_bump",
  },
  {
    id: "restored",
    ask: "You weaken the scorer, see the goldens fail, and restore it byte for byte. What becomes of its version?",
    form: {
      kind: "choice",
      options: {
        a: "it stays: the behaviour is what it was",
        b: "it rises: the file was edited twice",
        c: "it falls by one",
      },
    },
    why: "A version names a behaviour. It changes if and only if the behaviour does.",
    chapter: "10-reward-as-specification",
    runs: [],
    solve: () => "a",
  },
];
