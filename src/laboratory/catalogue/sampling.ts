/** Sabotages of sampling and of the statement of what sampled. */

import { readFile } from "node:fs/promises";
import path from "node:path";
import { JOURNAL } from "../../runs/artifacts.ts";
import { provenancePath } from "../../runs/manifest.ts";
import { editText } from "../files.ts";
import { SAMPLING as SETTINGS, stated } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { againstBaseline, byGate, HONEST_PAIR } from "./against-baseline.ts";

/** One setting of the candidate's sampling is not the baseline's. */
function setting(name: string, trick: string, change: object): Sabotage {
  return againstBaseline(
    "sampling",
    {
      name,
      trick,
      honest: "The same settings for both policies.",
      caught: byGate("sampling_differs"),
    },
    {
      candidate: () => ({
        provenance: stated("later", { sampling: { ...SETTINGS, ...change } }),
      }),
    },
  );
}

export const SAMPLING: readonly Sabotage[] = [
  setting(
    "cooler-candidate",
    "Samples the candidate at a lower temperature, which raises the pass rate of any policy.",
    { temperature: 0.2 },
  ),
  setting(
    "more-tokens",
    "Gives the candidate more tokens, so that fewer of its answers are cut off.",
    { max_tokens: 256 },
  ),
  setting("nucleus-candidate", "Samples only the candidate with top-p 0.5.", { top_p: 0.5 }),
  setting("stop-sequence", "Stops only the candidate after its first line.", { stop: ["\n"] }),
  againstBaseline(
    "sampling",
    {
      name: "sampling-not-stated",
      trick: "Leaves out how the candidate was sampled, so that nobody can compare the settings.",
      honest: HONEST_PAIR,
      caught: byGate("sampling_differs"),
    },
    { candidate: () => ({ provenance: { policy: { kind: "stated", name: "later" } } }) },
  ),
  againstBaseline(
    "sampling",
    {
      name: "policy-not-stated",
      trick: "Claims a better policy and says of neither run which policy answered.",
      honest: "Both runs state their policy.",
      caught: byGate("policy_not_stated"),
    },
    {
      baseline: () => ({ provenance: null }),
      candidate: () => ({ provenance: null }),
      gate: { claim: "policy" },
    },
  ),
  {
    name: "completions-edited",
    family: "sampling",
    trick: "Corrects wrong answers in the completions of a rollout before they are scored.",
    honest: "The completions as the rollout wrote them.",
    caught: { check: "eval", code: "exit 65", says: /describes another version/ },
    async play(lab, cheat) {
      const dataset = await lab.dataset(lab.examples(FEW));
      const answers = await lab.rollout({ policy: await lab.pi0(), dataset });
      if (cheat) await editText(answers, (text) => text.replaceAll("Final", "FINAL"));
      await lab.evaluated(dataset, answers, "edited");
      return { verdict: "evaluated", findings: [] };
    },
  },
  {
    name: "provenance-of-another",
    family: "sampling",
    trick: "Puts the provenance of another rollout beside completions that came from elsewhere.",
    honest: "The provenance that belongs to the completions.",
    caught: { check: "eval", code: "exit 65", says: /describes another version/ },
    async play(lab, cheat) {
      const dataset = await lab.dataset(lab.examples(FEW));
      const policy = await lab.pi0();
      const mine = await lab.rollout({ policy, dataset });
      const other = await lab.rollout({ policy, dataset, sampling: { temperature: 0 } });
      if (cheat) {
        const text = await readFile(provenancePath(mine), "utf8");
        await editText(provenancePath(other), () => text);
      }
      await lab.evaluated(dataset, other, "other");
      return { verdict: "evaluated", findings: [] };
    },
  },
  {
    name: "journal-contradicts-itself",
    family: "sampling",
    trick: "Adds a second, right answer to the journal of an interrupted rollout and resumes it.",
    honest: "An interrupted rollout is resumed.",
    caught: { check: "rollout", code: "exit 65", says: /two different answers/ },
    play: (lab, cheat) =>
      resumed(lab, cheat, (text) => {
        const last = text.trimEnd().split("\n").at(-1) ?? "";
        return `${text}${last.replace(/"completion":"[^"]*"/, '"completion":"Final: 1"')}\n`;
      }),
  },
  {
    name: "journal-of-another-data-set",
    family: "sampling",
    trick: "Resumes a rollout with another data set, so that old answers stand for new prompts.",
    honest: "An interrupted rollout is resumed.",
    caught: { check: "rollout", code: "exit 64", says: /something else/ },
    async play(lab, cheat) {
      const policy = await lab.pi0();
      const dataset = await lab.dataset(lab.examples(FEW));
      const outdir = await lab.rollout({ policy, dataset, stopAfter: 5 });
      const other = await lab.dataset(lab.examples(FEW + 4));
      await lab.rollout({ policy, dataset: cheat ? other : dataset, outdir, resume: true });
      return { verdict: "sampled", findings: [] };
    },
  },
];

const FEW = 16;

async function resumed(
  lab: Parameters<Sabotage["play"]>[0],
  cheat: boolean,
  edit: (text: string) => string,
) {
  const policy = await lab.pi0();
  const dataset = await lab.dataset(lab.examples(FEW));
  const outdir = await lab.rollout({ policy, dataset, stopAfter: 5 });
  if (cheat) await editText(path.join(outdir, JOURNAL), edit);
  await lab.rollout({ policy, dataset, outdir, resume: true });
  return { verdict: "sampled", findings: [] };
}
