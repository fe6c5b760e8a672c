/** Level 0: the instrument. */

import { canonicalJson } from "../../core/index.ts";
import { classify } from "../../scorers/index.ts";
import type { QuizQuestion } from "../quiz.ts";
import type { Room } from "../room.ts";
import { count, differingField, four, judged, metric, REASON, reasonCode } from "./look-up.ts";

const BUILT = "l0_build_eval";
const TAMPERED = "l0_sabotage_eval_tampered";
const PAIR = [BUILT, TAMPERED] as const;

export const QUESTIONS_0: readonly QuizQuestion[] = [
  {
    id: "pass-rate",
    ask: `What is the pass rate of runs/${BUILT}?`,
    form: four,
    why: "It is metrics.pass_rate in summary.json: rows with reward 1, over rows that were judged.",
    chapter: "11-measurement-hygiene",
    runs: [BUILT],
    solve: (room) => metric(room, BUILT, (m) => m.pass_rate),
  },
  {
    id: "format-failures",
    ask: `How many rows of runs/${BUILT} are format failures: the verifier could not read an integer at all?`,
    form: count,
    why: "Add up outcomes.counts in summary.json without ok and wrong_answer: a wrong answer was read well enough to be wrong.",
    chapter: "13-debugging-by-class",
    runs: [BUILT],
    solve: async (room) => {
      const { outcomes } = (await room.run(BUILT)).summary;
      return Object.entries(outcomes.counts)
        .filter(([code]) => classify(code) === "model_format")
        .reduce((sum, [, rows]) => sum + rows, 0);
    },
  },
  {
    id: "unseen-code",
    ask: "A row comes back with a code that your kata has never heard of, “timeout”. Which class is that?",
    form: {
      kind: "word",
      what: "model_math, model_format, data_invalid or unknown",
      words: ["model_math", "model_format", "data_invalid", "unknown"],
    },
    why: "A class is a claim about whose fault it is. Without evidence the honest class is unknown.",
    chapter: "13-debugging-by-class",
    runs: [],
    solve: () => classify("timeout"),
  },
  {
    id: "altered-row",
    ask: "The gate refuses the tampered pair for several reasons. Which code names the row whose expected answer you changed?",
    form: REASON,
    why: "Other bytes and other examples are symptoms; this reason holds the row and both of its answers.",
    chapter: "11-measurement-hygiene",
    runs: PAIR,
    solve: alteredReason,
  },
  {
    id: "gate-exit",
    ask: "With which exit code does the gate end on the tampered pair?",
    form: count,
    why: "3 says that there is nothing to compare; 1 would say that the candidate is worse or not what was claimed.",
    chapter: "11-measurement-hygiene",
    runs: PAIR,
    solve: async (room) => (await judged(room, ...PAIR)).exit_code,
  },
  {
    id: "manifest-evidence",
    ask: "Which of these fields of manifest.json proves that the room was not locked between the two runs?",
    form: {
      kind: "choice",
      options: {
        a: "scorer.version",
        b: "examples.prompts_sha256",
        c: "answers_sha256",
        d: "examples.sha256",
      },
    },
    why: "Scorer, prompts and completions are the same in both manifests. Only the examples, answers included, have another fingerprint.",
    chapter: "11-measurement-hygiene",
    runs: PAIR,
    solve: (room) =>
      differingField(room, PAIR, {
        a: (m) => m.scorer.version,
        b: (m) => m.examples.prompts_sha256,
        c: (m) => m.answers_sha256,
        d: (m) => m.examples.sha256,
      }),
  },
  {
    id: "difference",
    ask: "What does the gate report as the difference of the tampered pair?",
    form: {
      kind: "choice",
      options: {
        a: "one pass rate minus the other",
        b: "zero, because the completions are the same",
        c: "none at all",
      },
    },
    why: "Two numbers from two instruments have no difference, however large it looks: delta is null.",
    chapter: "11-measurement-hygiene",
    runs: PAIR,
    solve: async (room) => {
      const { delta } = await judged(room, ...PAIR);
      return delta === null ? "c" : delta === 0 ? "b" : "a";
    },
  },
];

async function alteredReason(room: Room): Promise<string> {
  const [before, after] = await Promise.all(PAIR.map((run) => expectedAnswers(room, run)));
  const changed = [...(before ?? [])].find(([id, answer]) => after?.get(id) !== answer);
  return reasonCode(
    await judged(room, ...PAIR),
    "a row with another expected answer",
    ({ baseline, candidate }) =>
      changed !== undefined &&
      canonicalJson(baseline) === changed[1] &&
      canonicalJson(candidate) === after?.get(changed[0]),
  );
}

async function expectedAnswers(room: Room, run: string): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for await (const rows of (await room.run(run)).results().batches()) {
    for (const row of rows) answers.set(row.id, canonicalJson(row.expected_answer));
  }
  return answers;
}
