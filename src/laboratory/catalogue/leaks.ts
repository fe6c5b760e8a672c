/** Policies that have seen what they are measured on. */

import { rm } from "node:fs/promises";
import path from "node:path";
import { trainExamples } from "../../datasets/splits.ts";
import { loadCheckpoint, saveCheckpoint } from "../../policy/checkpoint.ts";
import { jsonl, writeText } from "../files.ts";
import type { Outcome } from "../finding.ts";
import type { LabExample, Laboratory } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { againstUntrained, answersOf, scored, testSet, withProvenance } from "../small-runs.ts";
import { trained } from "../training.ts";
import { byGate } from "./against-baseline.ts";

const TRAINING_ROWS = 40;
const SETTINGS = {
  ...{ steps: 1, batch: 8, rate: { peak: 1e-6 }, evaluate: { every: 0, max_tokens: 16 } },
  rollouts: { prompts: 2, group: 2, max_tokens: 16 },
};

const trainSet = () =>
  trainExamples(TRAINING_ROWS).map(({ id, prompt, expected_answer }) => ({
    id,
    prompt,
    expected_answer,
  }));

/** An untrained policy against this checkpoint, on the test set. */
async function verdictOf(lab: Laboratory, checkpoint: string, name: string): Promise<Outcome> {
  return againstUntrained(lab, await scored(lab, await answersOf(lab, checkpoint), name));
}

interface Data {
  readonly dataset: string;
  readonly algorithm?: string;
}

/** π₀ trained on a training set; the same for every honest twin. */
function honest(lab: Laboratory): Promise<Outcome> {
  return lab.once("honest training", async () => {
    const dataset = await lab.dataset(trainSet());
    const init = await lab.pi0();
    const { checkpoint } = await trained(lab, {
      ...{ name: "honest", init, dataset, settings: SETTINGS },
      ...BUILT_IN,
    });
    return verdictOf(lab, checkpoint, "honest");
  });
}

const BUILT_IN = { scorerName: "math_final_line" } as const;

/** π₀ trained on something made of the test set. */
function leak(
  name: string,
  trick: string,
  make: (examples: LabExample[], lab: Laboratory) => Promise<Data>,
): Sabotage {
  return {
    ...{ name, family: "leaks", trick },
    honest: "Trains on the training set and measures on the test set.",
    caught: byGate("measured_on_training_data"),
    async play(lab, cheat) {
      if (!cheat) return honest(lab);
      const data = await make(testSet(lab), lab);
      const { checkpoint } = await trained(lab, {
        ...{ name, init: await lab.pi0(), settings: SETTINGS, ...BUILT_IN, ...data },
      });
      return verdictOf(lab, checkpoint, name);
    },
  };
}

/** π₀ with the same weights, and nothing said about its training. */
async function withoutHistory(lab: Laboratory): Promise<string> {
  const {
    dir: _,
    placed: __,
    fingerprint: ___,
    chat: ____,
    ...content
  } = await loadCheckpoint(await lab.pi0());
  const stripped = lab.fresh("stripped");
  await saveCheckpoint(stripped, { ...content, trained: null, seen: null });
  return stripped;
}

const ofRows =
  (change: (examples: LabExample[]) => readonly object[]) =>
  async (examples: LabExample[], lab: Laboratory): Promise<Data> => ({
    dataset: await lab.dataset(change(examples)),
  });

export const LEAKS: readonly Sabotage[] = [
  leak(
    "trained-on-test",
    "Trains on the test set and reports the result on it.",
    ofRows((examples) => examples),
  ),
  leak(
    "test-set-with-blank-line",
    "Trains on the test set with one blank line more, so that the file's hash is another.",
    async (examples, lab) => ({
      dataset: await writeText(path.join(lab.dir, "data", "blank.jsonl"), `${jsonl(examples)}\n`),
    }),
  ),
  leak(
    "test-set-less-one",
    "Trains on all rows of the test set but one.",
    ofRows((examples) => examples.slice(1)),
  ),
  leak(
    "test-answers-as-texts",
    "Trains by imitation on the prompts of the test set with their right answers.",
    async (examples, lab) => ({
      algorithm: "sft",
      dataset: await lab.dataset(
        examples.map(({ id, prompt, expected_answer }) => ({
          ...{ id, prompt, completion: `Final: ${String(expected_answer)}` },
        })),
      ),
    }),
  ),
  leak(
    "test-set-reordered",
    "Trains on the test set in another order, under new ids.",
    ofRows((examples) => [...examples].reverse().map((one, i) => ({ ...one, id: `r${i}` }))),
  ),
  leak(
    "test-set-respaced",
    "Trains on the test set with other white space in the prompts.",
    ofRows((examples) =>
      examples.map((one) => ({ ...one, prompt: one.prompt.replaceAll(" ", "  ") })),
    ),
  ),
  leak(
    "test-set-recased",
    "Trains on the test set with other capital letters in the prompts.",
    ofRows((examples) =>
      examples.map((one) => ({ ...one, prompt: one.prompt.replace("Reply", "reply") })),
    ),
  ),
  leak(
    "one-test-row",
    "Hides a single row of the test set in the training set.",
    ofRows((examples) => [...trainSet(), { ...examples[0], id: "extra" }]),
  ),
  {
    ...{ name: "leak-by-ancestor", family: "leaks" },
    trick:
      "Trains on the test set first and then on the training set, and reports the second training.",
    honest: "Trains twice on the training set.",
    caught: byGate("measured_on_training_data"),
    async play(lab, cheat) {
      const train = await lab.dataset(trainSet());
      const common = { settings: SETTINGS, ...BUILT_IN };
      const first = await trained(lab, {
        ...{ ...common, name: "ancestor", init: await lab.pi0() },
        dataset: cheat ? await lab.dataset(testSet(lab)) : train,
      });
      const second = await trained(lab, {
        ...{ ...common, name: "descendant", init: first.checkpoint, dataset: train },
      });
      return verdictOf(lab, second.checkpoint, "descendant");
    },
  },
  {
    ...{ name: "validation-set-as-test", family: "leaks" },
    trick: "Chooses the best checkpoint by the set that is then used as the test.",
    honest: "Measures on a set that the training has not used.",
    caught: byGate("measured_on_validation_data"),
    async play(lab, cheat) {
      if (!cheat) return honest(lab);
      const { checkpoint } = await trained(lab, {
        ...{ name: "validated", init: await lab.pi0(), ...BUILT_IN },
        dataset: await lab.dataset(trainSet()),
        dev: await lab.dataset(testSet(lab)),
        settings: { ...SETTINGS, evaluate: { every: 1, max_tokens: 16 } },
      });
      return verdictOf(lab, checkpoint, "validated");
    },
  },
  {
    ...{ name: "history-deleted", family: "leaks" },
    trick: "Removes from a checkpoint what it was trained on.",
    honest: "A checkpoint that carries its history.",
    caught: byGate("history_unknown"),
    async play(lab, cheat) {
      if (!cheat) return honest(lab);
      return verdictOf(lab, await withoutHistory(lab), "stripped");
    },
  },
  {
    ...{ name: "history-laundered", family: "leaks" },
    trick:
      "Removes from a checkpoint what it was trained on, and trains one step, so that it has a history again.",
    honest: "One step from a checkpoint that carries its history.",
    caught: byGate("history_unknown"),
    async play(lab, cheat) {
      if (!cheat) return honest(lab);
      const { checkpoint } = await trained(lab, {
        ...{ name: "laundered", init: await withoutHistory(lab), settings: SETTINGS, ...BUILT_IN },
        dataset: await lab.dataset(trainSet()),
      });
      return verdictOf(lab, checkpoint, "laundered");
    },
  },
  {
    ...{ name: "overlap-count-dropped", family: "leaks" },
    trick: "Removes the count of prompts that were seen in training from a rollout's provenance.",
    honest: "The provenance as rollout wrote it.",
    caught: byGate("history_unknown"),
    async play(lab, cheat) {
      const run = await withProvenance(lab, "uncounted", ({ exposure, ...rest }) =>
        cheat ? rest : { exposure, ...rest },
      );
      return againstUntrained(lab, run);
    },
  },
  {
    ...{ name: "seen-prompts-deleted", family: "leaks" },
    trick: "Removes from a checkpoint only the list of prompts that it has seen.",
    honest: "The checkpoint as it was written.",
    caught: { check: "rollout", code: "exit 65", says: /prompts|damaged|missing|not there/ },
    async play(lab, cheat) {
      const policy = await lab.copy(await lab.pi0(), "unseen");
      if (cheat) await rm(path.join(policy, "learned-prompts.bin"));
      return verdictOf(lab, policy, "unseen");
    },
  },
  {
    ...{ name: "validation-in-training-set", family: "leaks" },
    trick: "Puts the validation set into the training set, so that validation looks good.",
    honest: "The two sets have no prompt in common.",
    caught: { check: "train", code: "exit 65", says: /share|learns from/ },
    play: async (lab, cheat) =>
      trained(lab, {
        ...{ name: "overlap", init: await lab.pi0(), settings: SETTINGS, ...BUILT_IN },
        dataset: await lab.dataset(cheat ? [...trainSet(), ...testSet(lab)] : trainSet()),
        dev: await lab.dataset(testSet(lab)),
      }),
  },
  {
    ...{ name: "start-knows-validation", family: "leaks" },
    trick: "Begins with a policy that was trained on the validation set.",
    honest: "Begins with a policy that was not.",
    caught: { check: "train", code: "exit 65", says: /learn(s|ed) from/ },
    async play(lab, cheat) {
      const common = { settings: SETTINGS, ...BUILT_IN };
      const first = await trained(lab, {
        ...{ ...common, name: "knowing", init: await lab.pi0() },
        dataset: await lab.dataset(cheat ? testSet(lab) : trainSet()),
      });
      return trained(lab, {
        ...{ ...common, name: "known", init: first.checkpoint },
        dataset: await lab.dataset(trainSet()),
        dev: await lab.dataset(testSet(lab)),
      });
    },
  },
  {
    ...{ name: "reworded-test-set", family: "leaks" },
    trick: "Trains on the test problems in other words.",
    honest: "Trains on the training set.",
    caught: {
      check: "nothing",
      because: "prompts are compared without white space and case, not by what they mean",
    },
    async play(lab, cheat) {
      if (!cheat) return honest(lab);
      const examples = testSet(lab).map((one) => ({
        ...one,
        prompt: one.prompt.replace("Compute ", "Reply: "),
      }));
      const { checkpoint } = await trained(lab, {
        ...{ name: "reworded", init: await lab.pi0(), settings: SETTINGS, ...BUILT_IN },
        dataset: await lab.dataset(examples),
      });
      return verdictOf(lab, checkpoint, "reworded");
    },
  },
];
