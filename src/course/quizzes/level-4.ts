/** Level 4: the reward as specification. */

import { CODE, choice, count, questions, REASON, strictScore } from "./answers.ts";

/** Spellings that the strict verifier rejects; Number reads all but the last. */
const SPELLINGS = ["016", "+16", "16.0", "1.6e1", "0x10", "1_6"];

export const QUESTIONS_4 = questions("10-reward-as-specification", [
  {
    id: "blanks-around",
    ask: 'The expected answer is 12. Which code does the strict verifier give to this? (the quotes are not part of it)\n"  Final: 12 "',
    form: CODE,
    why: "The specification strips ASCII white space at both ends.",
    solve: () => strictScore("  Final: 12 ", 12).code,
  },
  {
    id: "plus-zero",
    ask: "The expected answer is 7. This breaks two rules; which code does the verifier give?\nFinal: +07",
    form: CODE,
    why: "Rules are checked in a fixed order, the sign before the digits: a completion always gets the same code.",
    solve: () => strictScore("Final: +07", 7).code,
  },
  {
    id: "false-positive",
    ask: "A weakened verifier gives 1 to a golden row with the expected reward 0. What is that?",
    form: choice({ a: "a false negative", b: "a false positive", c: "a scorer error" }),
    why: "It gives a reward where there should be none: a loophole. A wrong zero is a false negative.",
    solve: () => "b",
  },
  {
    id: "lenient-parsing",
    ask: `A lenient verifier parses what follows “Final: ” with JavaScript's Number. The expected answer is 16. How many of these does it accept that the strict one rejects?\n${SPELLINGS.join(", ")}`,
    form: count,
    why: "Number reads all but 1_6 as 16; the strict verifier accepts none. One lenient line adds five accepted spellings.",
    solve: () =>
      SPELLINGS.filter(
        (text) => Number(text) === 16 && strictScore(`Final: ${text}`, 16).reward === 0,
      ).length,
  },
  {
    id: "quiet-edit",
    ask: "You edit the scorer, keep its version, and evaluate again. With which reason does the gate reject a comparison with the old run?",
    form: REASON,
    why: "A scorer is identified by its code too. Other code under the same version is an unannounced change.",
    solve: () => "instrument_changed_without_version_bump",
  },
  {
    id: "restored",
    ask: "You weaken the scorer, see the golden suite fail, and restore it byte for byte. What happens to its version?",
    form: choice({
      a: "it stays: the behaviour is the same",
      b: "it is increased: the file was edited twice",
      c: "it is decreased by one",
    }),
    why: "A version identifies a behaviour. It changes if and only if the behaviour does.",
    solve: () => "a",
  },
]);
