/** Sabotages by choice of the random seed. */

import { type BaseRow, WITHHELD } from "../base.ts";
import { SAMPLING, stated } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { againstBaseline, byGate } from "./against-baseline.ts";

/** So many right answers fewer: significant at 0.05, and not at a twentieth of it. */
function slightlyWeaker(rows: readonly BaseRow[]): string[] {
  let left = 7;
  return rows.map(({ completion, passes }) => (passes && left-- > 0 ? WITHHELD : completion));
}

export const SEEDS: readonly Sabotage[] = [
  againstBaseline(
    "seeds",
    {
      name: "best-of-20-seeds",
      trick:
        "Samples the candidate with 20 seeds and compares the best one with one seed of the baseline.",
      honest: "Both policies are sampled with the same seed.",
      caught: byGate("seeds_differ"),
    },
    {
      candidate: () => ({
        provenance: stated("later", { sampling: { ...SAMPLING, seed: 17 }, seeds_tried: 20 }),
      }),
    },
  ),
  againstBaseline(
    "seeds",
    {
      name: "seed-not-stated",
      trick: "Leaves out the candidate's seed, so that nobody sees that it was chosen.",
      honest: "Both policies are sampled with the same seed.",
      caught: byGate("seeds_differ"),
    },
    {
      candidate: () => {
        const { seed: _, ...rest } = SAMPLING;
        return { provenance: stated("later", { sampling: rest }) };
      },
    },
  ),
  againstBaseline(
    "seeds",
    {
      name: "lucky-seed-for-both",
      trick: "Tries 20 seeds on both policies and reports the one with the largest difference.",
      honest: "One seed, chosen before anything was sampled.",
      caught: byGate("several_seeds_tried"),
    },
    {
      both: () => ({}),
      baseline: (rows) => ({ completions: slightlyWeaker(rows) }),
      candidate: () => ({ provenance: stated("later", { seeds_tried: 20 }) }),
    },
  ),
  {
    name: "same-policy-again",
    family: "seeds",
    trick:
      "Samples an unchanged checkpoint again with another seed and claims that it has improved.",
    honest: "A better policy, sampled with the same seed.",
    caught: byGate("nothing_changed"),
    async play(lab, cheat) {
      const dataset = await lab.dataset(lab.examples());
      if (!cheat) {
        return lab.gate(await lab.baseline(), await lab.evaluate("later"));
      }
      const again = await lab.rollout({
        policy: await lab.pi0(),
        dataset,
        sampling: { seed: 5 },
      });
      return lab.gate(await lab.pi0Run(), await lab.evaluated(dataset, again, "again"));
    },
  },
  {
    name: "count-of-tries-reset",
    family: "seeds",
    trick:
      "Samples from a fresh copy of the checkpoint for each seed, so that every copy counts one try.",
    honest: "One seed, and a count of one.",
    caught: {
      check: "nothing",
      because:
        "tries are counted in the checkpoint's folder, and a copy starts without them; with one seed for both sides fixed beforehand nothing is gained",
    },
    async play(lab, cheat) {
      const dataset = await lab.dataset(lab.examples(16));
      const tries = cheat ? [0, 1, 2] : [0];
      for (const seed of tries) {
        const policy = await lab.copy(await lab.pi0(), "pi0-copy");
        await lab.rollout({ policy, dataset, sampling: { seed } });
      }
      return { verdict: "sampled", findings: [] };
    },
  },
];
