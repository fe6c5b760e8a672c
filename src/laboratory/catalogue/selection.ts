/** Sabotages of selection. */

import path from "node:path";
import type { JsonObject } from "../../core/json.ts";
import { RESULTS } from "../../runs/artifacts.ts";
import { provenancePath } from "../../runs/manifest.ts";
import { editText, readJson, readRows } from "../files.ts";
import type { Laboratory } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { byGate } from "./against-baseline.ts";

const FEW = 48;

/** Packs of four samples of π₀; made once for each seed. */
function packs(lab: Laboratory, seed = 0) {
  return lab.once(`packs ${seed}`, async () => {
    const dataset = await lab.dataset(lab.examples(FEW));
    const policy = await lab.pi0();
    return { dataset, samples: await lab.rollout({ policy, dataset, n: 4, sampling: { seed } }) };
  });
}

const selected = (lab: Laboratory, n: number, seed = 0) =>
  lab.once(`selected ${n} ${seed}`, async () => lab.select({ ...(await packs(lab, seed)), n }));

export const SELECTION: readonly Sabotage[] = [
  {
    name: "best-of-4-as-policy",
    family: "selection",
    trick: "Reports the best of four samples of an unchanged policy as a better policy.",
    honest: "The same runs, claimed to be a change of selection.",
    caught: byGate("claim_mismatch"),
    async play(lab, cheat) {
      const claim = cheat ? "policy" : "selection";
      return lab.gate(await selected(lab, 1), await selected(lab, 4), { claim });
    },
  },
  {
    name: "other-samples",
    family: "selection",
    trick: "Selects from other samples than the baseline and reports the gain as one of the rule.",
    honest: "Both rules select from the same samples.",
    caught: byGate("samples_differ"),
    async play(lab, cheat) {
      return lab.gate(await selected(lab, 1), await selected(lab, 4, cheat ? 1 : 0));
    },
  },
  {
    name: "selection-and-policy",
    family: "selection",
    trick: "Changes the policy and the number of samples at once and credits the policy.",
    honest: "Only the number of samples changes.",
    caught: byGate("confounded"),
    async play(lab, cheat) {
      const { dataset, samples } = await packs(lab);
      const plain = await lab.once("first samples", async () => {
        const { prompt, sampling } = await readJson(provenancePath(samples));
        return lab.evaluate("first-samples", {
          examples: lab.examples(FEW),
          completions: await firstSamples(samples),
          provenance: {
            prompt,
            sampling,
            policy: { kind: "stated", name: "earlier" },
          } as JsonObject,
          scorer: { name: "math_final_line" },
        });
      });
      const four = await lab.select({ dataset, samples, n: 4 });
      return lab.gate(cheat ? plain : await selected(lab, 1), four);
    },
  },
  {
    name: "moody-selection",
    family: "selection",
    trick:
      "Breaks ties in another way each time it is loaded, and repeats until the number is good.",
    honest: "Breaks ties by the length of the text.",
    caught: byGate("nondeterministic_selection"),
    async play(lab, cheat) {
      const rule = cheat
        ? "const salt = (0.37 * (globalThis.timesLoaded = (globalThis.timesLoaded ?? 0) + 1)) % 1; export const tieBreakKey = (s) => [[...s.completion].reduce((h, c) => (h * 31 + c.charCodeAt(0) * salt * 1e3) % 1e6, salt)];\n"
        : "export const tieBreakKey = (s) => [s.completion.length, s.completion];\n";
      const run = await lab.select({ ...(await packs(lab)), n: 4, rule });
      return lab.gate(await selected(lab, 1), run);
    },
  },
  {
    name: "pick-edited",
    family: "selection",
    trick: "Writes another sample's reward into the rows of a finished selection.",
    honest: "The selection as it was written.",
    caught: byGate("run_edited"),
    async play(lab, cheat) {
      const run = await lab.copy(await selected(lab, 4), "pick-edited");
      if (cheat)
        await editText(path.join(run, RESULTS), (text) => text.replace('"reward":0', '"reward":1'));
      return lab.gate(await selected(lab, 1), run);
    },
  },
];

async function firstSamples(file: string): Promise<string[]> {
  const rows = await readRows<{ samples: { completion: string }[] }>(file);
  return rows.map(({ samples: [first] }) => first?.completion ?? "");
}
