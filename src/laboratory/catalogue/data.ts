/** Sabotages of the data set. */

import { stated } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { againstBaseline, byGate, HONEST_PAIR } from "./against-baseline.ts";
import { examplesIn, rightAnswer } from "./rows.ts";

export const DATA: readonly Sabotage[] = [
  againstBaseline(
    "data",
    {
      name: "answer-key-edited",
      trick:
        "Writes the candidate's wrong answers into the answer key, so that they count as right.",
      honest: HONEST_PAIR,
      caught: byGate("expected_answer_altered"),
    },
    {
      candidate: (rows) => ({
        examples: examplesIn(rows).map((example, i) =>
          rows[i]?.passes ? example : { ...example, expected_answer: 7 },
        ),
      }),
    },
  ),
  againstBaseline(
    "data",
    {
      name: "failing-rows-dropped",
      trick: "Leaves out the examples that the candidate fails, so that its pass rate rises to 1.",
      honest: HONEST_PAIR,
      caught: byGate("example_count_differs"),
    },
    {
      candidate: (rows) => {
        const kept = rows.filter(({ passes }) => passes);
        return {
          examples: examplesIn(kept),
          completions: kept.map(({ completion }) => completion),
        };
      },
    },
  ),
  againstBaseline(
    "data",
    {
      name: "first-rows-only",
      trick:
        "Evaluates only the first half of the examples, where the candidate happens to do well.",
      honest: HONEST_PAIR,
      caught: byGate("example_count_differs"),
    },
    { candidate: (rows) => ({ maxExamples: Math.ceil(rows.length / 2) }) },
  ),
  againstBaseline(
    "data",
    {
      name: "hard-rows-replaced",
      trick:
        "Puts examples that the candidate solves in the place of those that it fails, under the old ids.",
      honest: HONEST_PAIR,
      caught: byGate("prompt_altered"),
    },
    {
      candidate: (rows) => {
        const solved = rows.filter(({ passes }) => passes);
        const swapped = rows.map((row, i) =>
          row.passes ? row : { ...(solved[i % solved.length] ?? row), id: row.id },
        );
        return {
          examples: examplesIn(swapped),
          completions: swapped.map(({ completion }) => completion),
        };
      },
    },
  ),
  againstBaseline(
    "data",
    {
      name: "rows-renamed",
      trick: "Gives the same examples new ids, so that no row can be compared with the baseline's.",
      honest: HONEST_PAIR,
      caught: byGate("rows_not_paired"),
    },
    {
      candidate: (rows) => ({
        examples: examplesIn(rows).map((example) => ({ ...example, id: `new-${example.id}` })),
      }),
    },
  ),
  againstBaseline(
    "data",
    {
      name: "data-set-rewritten",
      trick:
        "Writes the data set anew with a field that the scorer could read, to see whether anyone compares files.",
      honest: HONEST_PAIR,
      caught: byGate("dataset_bytes_differ"),
    },
    {
      candidate: (rows) => ({
        examples: examplesIn(rows).map((example) => ({ ...example, easy: true })),
      }),
    },
  ),
  againstBaseline(
    "data",
    {
      name: "failures-left-out",
      trick:
        "Leaves out the completions that are wrong and hopes that only the others are counted.",
      honest: HONEST_PAIR,
      caught: byGate("missing_completions"),
    },
    {
      candidate: (rows) => ({
        completions: rows.map(({ completion, passes }) => (passes ? completion : undefined)),
      }),
    },
  ),
  againstBaseline(
    "data",
    {
      name: "second-answers",
      trick: "Appends a second, right completion for every example that was failed.",
      honest: "One completion for each example.",
      caught: { check: "eval", code: "exit 65", says: /twice|duplicate|more than once|again/i },
    },
    {
      candidate: (rows) => ({
        answers: [
          ...rows.map(({ id, completion }) => ({ id, completion })),
          ...rows
            .filter(({ passes }) => !passes)
            .map((row) => ({ id: row.id, completion: rightAnswer(row) })),
        ],
      }),
    },
  ),
  againstBaseline(
    "data",
    {
      name: "unreadable-answer-key",
      trick:
        "Makes the expected answers unreadable where the candidate is wrong, in both runs, so that its failures say nothing.",
      honest: HONEST_PAIR,
      caught: byGate("invalid_examples"),
    },
    {
      candidate: (rows) => ({ examples: unreadable(rows) }),
      baseline: (rows) => ({ examples: unreadable(rows) }),
    },
  ),
  copies(
    "copies-of-problems",
    "Asks 5 problems 30 times under new ids, so that 2 lucky ones look like 60 of 150.",
    (prompt) => prompt,
  ),
  copies(
    "copies-told-apart-invisibly",
    "Asks 5 problems 30 times, each time with other invisible characters and accents in the prompt.",
    (prompt, copy) =>
      prompt.replace(" ", `${INVISIBLE[copy % INVISIBLE.length]?.repeat(1 + copy)} `),
  ),
];

function unreadable(rows: Parameters<typeof examplesIn>[0]) {
  return examplesIn(rows).map((example, i) =>
    rows[i]?.passes ? example : { ...example, expected_answer: { see: "page 12" } },
  );
}

const INVISIBLE = ["\ufe0f", "\u034f", "\u2800", "\u3164", "\u{e0100}", "\u0336"];

/** Five problems, thirty copies each; the honest twin has as many rows with a problem each. */
function copies(
  name: string,
  trick: string,
  disguised: (prompt: string, copy: number) => string,
): Sabotage {
  const [problems, times] = [5, 30];
  return {
    ...{ name, family: "data", trick },
    honest: "150 different problems, with as many right answers.",
    caught: byGate("not_significant"),
    async play(lab, cheat) {
      const all = lab.examples(problems * times);
      const examples = all.map((example, i) =>
        cheat
          ? {
              ...all[Math.floor(i / times)],
              id: example.id,
              prompt: disguised(all[Math.floor(i / times)]?.prompt ?? "", i % times),
            }
          : example,
      );
      const said = (right: number) =>
        examples.map(({ expected_answer }, i) =>
          i < right ? `Final: ${expected_answer}` : "Final: 999999",
        );
      const conditions = { examples, scorer: { name: "math_final_line" } };
      const baseline = await lab.evaluate("copies-baseline", {
        ...{ ...conditions, completions: said(2 * times), provenance: stated("earlier") },
      });
      const candidate = await lab.evaluate("copies", {
        ...{ ...conditions, completions: said(4 * times), provenance: stated("later") },
      });
      return lab.gate(baseline, candidate);
    },
  };
}
