import { describe, expect, test } from "vitest";
import { EMBEDDED } from "./catalogue.ts";
import { checkEnvironment } from "./check.ts";
import type { EnvironmentDefinition } from "./definition.ts";

const OPTIONS = { tasks: 2, seed: 0 };

function failed(definition: EnvironmentDefinition<number>): string[] {
  return checkEnvironment(definition, OPTIONS)
    .filter(({ passed }) => passed === false)
    .map(({ id }) => id);
}

describe("the embedded environments", () => {
  for (const { definition } of EMBEDDED.values()) {
    const naive = definition.name.endsWith("-naive");
    test(`${definition.name} ${naive ? "fails because its reward can be hacked" : "passes"}`, () => {
      const wrong = failed(definition);
      if (naive) expect(wrong).toContain("semantic.canary_floor");
      else expect(wrong).toEqual([]);
    });
  }
});

/** Right when the answer is the state, which is drawn by the seed. */
const guess: EnvironmentDefinition<number> = {
  name: "guess",
  version: "1.0.0",
  spec: "Say the number.",
  codes: ["right", "wrong"],
  solved: ["right"],
  rewards: [0, 1],
  maxTurns: 1,
  random: true,
  tasks: (split) => [0, 1, 2].map((i) => ({ id: `${split}-${i}`, prompt: `${split} ${i}` })),
  reset: (_task, seed) => ({
    state: 100 + (seed % 1000),
    observation: [{ role: "user", content: "Guess." }],
    reward: 0,
  }),
  step: (state, { text }) => {
    const right = text === String(state);
    const end = { code: right ? "right" : "wrong", terminated: true, details: {} };
    return { state, observation: [], reward: right ? 1 : 0, end };
  },
  players: { gold: String, idle: () => "" },
  ansi: String,
};

/** Takes this answer for right in these tasks. */
function accepting(answer: string, ...ids: string[]): Partial<EnvironmentDefinition<number>> {
  const seeded = new Set<number>();
  return {
    reset: (task, seed) => {
      const turn = guess.reset(task, seed);
      if (ids.includes(task.id)) seeded.add(turn.state);
      return turn;
    },
    step: (state, { text }) =>
      guess.step(state, { text: text === answer && seeded.has(state) ? String(state) : text }),
  };
}

let calls = 0;
const FAULTS: readonly [string, Partial<EnvironmentDefinition<number>>, string][] = [
  ["drops its seed", { reset: (task) => guess.reset(task, 7) }, "runtime.seed_control"],
  ["says it is not random", { random: false }, "runtime.seed_control"],
  [
    "counts its calls",
    { step: (state, action) => ({ ...guess.step(state, action), metrics: { calls: calls++ } }) },
    "semantic.verifier_determinism",
  ],
  ["pays for anything", { step: (s) => guess.step(s, { text: String(s) }) }, "semantic.floor_gap"],
  ["pays nobody", { step: (state) => guess.step(state, { text: "" }) }, "semantic.oracle_max"],
  [
    "shows the answer",
    {
      reset: (task, seed) => {
        const turn = guess.reset(task, seed);
        return { ...turn, observation: [{ role: "user", content: `Say ${turn.state}.` }] };
      },
    },
    "semantic.no_solution_leakage",
  ],
  [
    "pays too much",
    { step: (s, a) => ({ ...guess.step(s, a), reward: 3 * (guess.step(s, a).reward ?? 0) }) },
    "reward.well_formed",
  ],
  ["has a code that it does not list", { codes: ["right"] }, "reward.well_formed"],
  ["has a task twice", { tasks: () => guess.tasks("train") }, "tasks.disjoint"],
  ["accepts an empty answer", { solved: ["right", "wrong"] }, "semantic.canary_floor"],
  ["accepts an empty answer to one task", accepting("", "holdout-1"), "semantic.canary_floor"],
  [
    "accepts a fixed answer to a third",
    accepting("yes", "dev-1", "dev-0"),
    "semantic.canary_floor",
  ],
];

test("a sound environment passes every check", () => {
  expect(failed(guess)).toEqual([]);
});

test("a fixed answer may be right by chance", () => {
  const sometimes = { ...guess, ...accepting("0", "holdout-1") };
  const many = {
    ...sometimes,
    tasks: (split: Parameters<typeof guess.tasks>[0]) =>
      Array.from({ length: 8 }, (_, i) => ({ id: `${split}-${i}`, prompt: `${split} ${i}` })),
  };
  const found = checkEnvironment(many, { tasks: 8, seed: 0 });
  expect(found.filter(({ passed }) => passed === false)).toEqual([]);
});

test.each(FAULTS)("one that %s is found", (_, fault, id) => {
  expect(failed({ ...guess, ...fault })).toContain(id);
});
