/** Level 4: the reward is the specification. */

import { type GoldenRow, OUTCOME_CODES } from "../../index.ts";
import { DEV, EXPLOITS } from "../evidence.ts";
import { demand } from "../gap.ts";
import type { Form, OpenQuestion, QuizQuestion } from "../quiz.ts";
import type { Room } from "../room.ts";
import { count, REASON, verdictOn } from "./look-up.ts";

const CODE: Form = { kind: "word", what: "an outcome code", words: OUTCOME_CODES };

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
    id: "loose-zeros",
    ask: `Loosen one rule: leading zeros are dropped before the strict verifier reads the text. How many rows of ${EXPLOITS} that stop at leading_zeros would then be paid?`,
    form: count,
    why: "Each of them holds the right integer behind zeros. Loosen the rule in scoring.ts, run validate-scorer on the file, and count the false positives.",
    chapter: "10-reward-as-specification",
    runs: [],
    solve: paidWithoutZeros,
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

/** Exploit rows that only their zeros keep from a reward. */
async function paidWithoutZeros(room: Room): Promise<number> {
  const lines = async <T>(file: string) =>
    (await room.read(file))
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => parsed<T>(line, file));
  const examples = await lines<{ id: string; expected_answer: number }>(DEV);
  const expected = new Map(examples.map((one) => [one.id, one.expected_answer]));
  return (await lines<GoldenRow>(EXPLOITS)).filter(({ id, completion }) => {
    const answer = expected.get(id) ?? Number.NaN;
    const loosened = completion.replace(/(Final: -?)0+(?=[0-9])/, "$1");
    const { code } = verdictOn(completion, answer);
    return code === "leading_zeros" && verdictOn(loosened, answer).reward === 1;
  }).length;
}

function parsed<T>(line: string, file: string): T {
  try {
    return JSON.parse(line) as T;
  } catch {
    demand(false, {
      expected: `one JSON object a line in ${file}`,
      found: "a line that is none",
      look: file,
      next: `git checkout -- ${file}`,
    });
  }
}

export const ALOUD_4: readonly OpenQuestion[] = [
  {
    ask: "Give one false positive and one false negative that a verifier of this kind could have. Which of the two does an optimiser look for?",
    chapter: "10-reward-as-specification",
  },
  {
    ask: "Why does a change of the scorer's behaviour end every comparison with older numbers?",
    chapter: "11-measurement-hygiene",
  },
  {
    ask: "“The parser should be more forgiving.” Why is that usually a trap?",
    chapter: "10-reward-as-specification",
  },
];
