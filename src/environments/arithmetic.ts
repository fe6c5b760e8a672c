/** The embedded arithmetic task: one prompt, one line, scored by the strict verifier. */

import type { Example } from "../core/records.ts";
import { examplesOf, trainExamples } from "../datasets/index.ts";
import { mathFinalLine, OUTCOME_CODES, REWARD_SPEC, score } from "../scorers/math-final-line.ts";
import type { EnvironmentDefinition } from "./definition.ts";

const TRAIN_TASKS = 4000;

export const arithmetic: EnvironmentDefinition<Example> = {
  name: "arithmetic",
  version: mathFinalLine.version,
  spec: REWARD_SPEC,
  codes: OUTCOME_CODES,
  solved: ["ok"],
  rewards: [0, 1],
  maxTurns: 1,
  random: false,
  tasks: (split) => (split === "train" ? trainExamples(TRAIN_TASKS) : examplesOf(split)),
  reset: (task) => ({
    state: task,
    observation: [{ role: "user", content: task.prompt }],
    reward: 0,
  }),
  step: (task, { text }) => {
    const { reward, code, details } = score(task, text);
    return { state: task, observation: [], reward, end: { code, terminated: true, details } };
  },
  players: { gold: ({ expected_answer }) => `Final: ${expected_answer}`, idle: () => "" },
  ansi: ({ prompt }) => prompt,
};
