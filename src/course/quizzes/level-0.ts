/** Level 0: measurement. */

import { canonicalJson } from "../../core/index.ts";
import { classify } from "../../scorers/index.ts";
import type { CheckContext } from "../check-context.ts";
import {
  choice,
  compared,
  count,
  differingField,
  four,
  metric,
  oneOf,
  questions,
  REASON,
  reasonCode,
} from "./answers.ts";

const BUILT = "l0_build_eval";
const PAIR = [BUILT, "l0_sabotage_eval_tampered"] as const;

export const QUESTIONS_0 = questions("11-measurement-hygiene", [
  {
    id: "pass-rate",
    ask: `What is the pass rate of runs/${BUILT}?`,
    form: four,
    why: "It is metrics.pass_rate in summary.json: rows with reward 1, divided by scored rows.",
    runs: [BUILT],
    solve: (context) => metric(context, BUILT, (m) => m.pass_rate),
  },
  {
    id: "format-failures",
    ask: `How many rows of runs/${BUILT} are format failures, where the verifier could not read an integer?`,
    form: count,
    why: "Add up outcomes.counts in summary.json without ok and wrong_answer: a wrong answer could be read.",
    chapter: "13-debugging-by-class",
    runs: [BUILT],
    solve: async (context) => {
      const { outcomes } = (await context.run(BUILT)).summary;
      return Object.entries(outcomes.counts)
        .filter(([code]) => classify(code) === "model_format")
        .reduce((sum, [, rows]) => sum + rows, 0);
    },
  },
  {
    id: "unseen-code",
    ask: "A row has a code that your kata does not know, “timeout”. Which class is that?",
    form: oneOf(["model_math", "model_format", "data_invalid", "unknown"]),
    why: "A class says where the fault is. Without evidence the class is unknown.",
    chapter: "13-debugging-by-class",
    solve: () => classify("timeout"),
  },
  {
    id: "altered-row",
    ask: "The gate rejects the tampered pair for several reasons. Which code names the row whose expected answer you changed?",
    form: REASON,
    why: "Other bytes and other examples are symptoms; this reason has the row and both answers.",
    runs: PAIR,
    solve: alteredReason,
  },
  {
    id: "gate-exit",
    ask: "What is the gate's exit code for the tampered pair?",
    form: count,
    why: "3 means that the runs are not comparable; 1 means that the candidate is worse or the claim is wrong.",
    runs: PAIR,
    solve: async (context) => (await compared(context, PAIR)).exit_code,
  },
  {
    id: "manifest-evidence",
    ask: "Which of these fields of manifest.json proves that the two runs did not measure the same thing?",
    form: choice({
      a: "scorer.version",
      b: "examples.prompts_sha256",
      c: "answers_sha256",
      d: "examples.sha256",
    }),
    why: "Scorer, prompts and completions are equal in both manifests. Only the examples, which include the expected answers, have another hash.",
    runs: PAIR,
    solve: (context) =>
      differingField(context, PAIR, {
        a: (m) => m.scorer.version,
        b: (m) => m.examples.prompts_sha256,
        c: (m) => m.answers_sha256,
        d: (m) => m.examples.sha256,
      }),
  },
  {
    id: "difference",
    ask: "What does the gate report as the difference of the tampered pair?",
    form: choice({
      a: "one pass rate minus the other",
      b: "zero, because the completions are the same",
      c: "no difference at all (null)",
    }),
    why: "Numbers from two different measurements have no meaningful difference: delta is null.",
    runs: PAIR,
    solve: async (context) => {
      const { delta } = await compared(context, PAIR);
      return delta === null ? "c" : delta === 0 ? "b" : "a";
    },
  },
]);

async function alteredReason(context: CheckContext): Promise<string> {
  const [before, after] = await Promise.all(PAIR.map((run) => expectedAnswers(context, run)));
  const changed = [...(before ?? [])].find(([id, answer]) => after?.get(id) !== answer);
  return reasonCode(
    await compared(context, PAIR),
    "a row with another expected answer",
    ({ baseline, candidate }) =>
      changed !== undefined &&
      canonicalJson(baseline) === changed[1] &&
      canonicalJson(candidate) === after?.get(changed[0]),
  );
}

async function expectedAnswers(context: CheckContext, run: string): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for await (const rows of (await context.run(run)).results().batches()) {
    for (const row of rows) answers.set(row.id, canonicalJson(row.expected_answer));
  }
  return answers;
}
