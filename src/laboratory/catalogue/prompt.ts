/** Sabotages of the prompt. */

import { stated } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { againstUntrained, withProvenance } from "../small-runs.ts";
import { againstBaseline, byGate, HONEST_PAIR } from "./against-baseline.ts";
import { examplesIn } from "./rows.ts";

const FEW = 16;

export const PROMPT: readonly Sabotage[] = [
  {
    name: "other-prompts-same-ids",
    family: "prompt",
    trick:
      "Samples answers to easier prompts under the same ids and evaluates them on the real data set.",
    honest: "Samples answers to the data set that they are evaluated on.",
    caught: { check: "eval", code: "exit 65", says: /prompt/ },
    async play(lab, cheat) {
      const examples = lab.examples(FEW);
      const dataset = await lab.dataset(examples);
      const [first] = examples;
      const easier = await lab.dataset(
        examples.map((example) => ({ ...example, prompt: first?.prompt ?? "" })),
      );
      const answers = await lab.rollout({
        policy: await lab.pi0(),
        dataset: cheat ? easier : dataset,
      });
      await lab.evaluated(dataset, answers, "prompts");
      return { verdict: "evaluated", findings: [] };
    },
  },
  {
    name: "prompt-binding-dropped",
    family: "prompt",
    trick:
      "Removes from a checkpoint's rollout what says which prompt each row answers, so that any prompt may stand there.",
    honest: "The rollout as it was written.",
    caught: { check: "eval", code: "exit 65", says: /every row names its prompt/ },
    async play(lab, cheat) {
      const run = await withProvenance(lab, "unbound", ({ prompts_by_row, ...rest }) =>
        cheat ? rest : { prompts_by_row, ...rest },
      );
      return againstUntrained(lab, run);
    },
  },
  againstBaseline(
    "prompt",
    {
      name: "answer-in-prompt",
      trick: "Writes the answer into the candidate's prompts.",
      honest: HONEST_PAIR,
      caught: byGate("prompt_altered"),
    },
    {
      candidate: (rows) => ({
        examples: examplesIn(rows).map((example) => ({
          ...example,
          prompt: `${example.prompt} (${String(example.expected_answer)})`,
        })),
      }),
    },
  ),
  againstBaseline(
    "prompt",
    {
      name: "reworded-prompts",
      trick: "Rewords the candidate's prompts and reports the gain as one of the policy.",
      honest: HONEST_PAIR,
      caught: byGate("prompts_differ"),
    },
    {
      candidate: (rows) => ({
        examples: examplesIn(rows).map((example) => ({
          ...example,
          prompt: `Think first. ${example.prompt}`,
        })),
      }),
    },
  ),
  againstBaseline(
    "prompt",
    {
      name: "system-prompt-added",
      trick: "Gives only the candidate a system prompt.",
      honest: HONEST_PAIR,
      caught: byGate("prompt_settings_differ"),
    },
    { candidate: () => ({ provenance: stated("later", { prompt: { system: "Be exact." } }) }) },
  ),
  againstBaseline(
    "prompt",
    {
      name: "few-shot-template",
      trick: "Puts solved examples before the candidate's prompts with another template.",
      honest: HONEST_PAIR,
      caught: byGate("prompt_settings_differ"),
    },
    {
      candidate: () => ({
        provenance: stated("later", { prompt: { template: "2 + 2: Final: 4\n{prompt}" } }),
      }),
    },
  ),
];
