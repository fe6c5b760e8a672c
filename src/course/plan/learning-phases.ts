/** Phases 1 to 3: training. Most of their tools come later; what can be judged already is. */

import { type Criterion, met, missing } from "./criterion.ts";

export const PHASE_1: readonly Criterion[] = [
  {
    id: "preference_data_exported",
    title: "Preference pairs exported in the form that Azure takes",
    needs: ["azure"],
  },
  { id: "dpo_run", title: "A finished DPO run", needs: ["train dpo"] },
  { id: "azure_job", title: "A DPO job that succeeded on Azure Foundry", needs: ["azure"] },
  {
    id: "evaluation_report",
    title: "An evaluation report of the DPO run against its baseline",
    needs: ["train dpo", "report"],
  },
];

const FEWEST_STRENGTHS = 3;

const microscope: Criterion = {
  id: "kl_under_the_microscope",
  title: "The KL leash understood in the small: a sweep of its strength",
  async check({ shelf }) {
    const found = await shelf.firstSound(({ run }) => run.manifest.command === "kl-tradeoff-demo");
    const expected = `a finished, whole kl-tradeoff-demo run with ${FEWEST_STRENGTHS} strengths or more`;
    const command = "./lockedroom kl-tradeoff-demo --outdir runs/kl --plot";
    if (!found) return missing(expected, "no such run in runs/", "Run it:", command);
    /** By row, and each row is one strength. */
    const drifts = new Map<string, number>();
    for await (const batch of found.run.results().batches()) {
      for (const { id, details } of batch) {
        const kl = (details as { kl?: unknown } | null)?.kl;
        if (typeof kl === "number") drifts.set(id, kl);
      }
    }
    if (drifts.size < FEWEST_STRENGTHS)
      return missing(expected, `${found.path} has ${drifts.size} strengths`, "Run it:", command);
    const [least, most] = [Math.min(...drifts.values()), Math.max(...drifts.values())];
    const figure = `KL from ${least.toFixed(4)} to ${most.toFixed(4)} nats over ${drifts.size} strengths`;
    return met({ path: `${found.path}/summary.json`, figure });
  },
};

export const PHASE_2: readonly Criterion[] = [
  { id: "rft_run", title: "A finished RFT run, rewarded by graders", needs: ["train rft"] },
  {
    id: "stability_diagnostics",
    title: "Its stability curves: reward, KL, entropy and length, step by step",
    needs: ["train rft"],
  },
  microscope,
  {
    id: "kl_controlled_for_real",
    title: "KL control of a real policy: a stronger leash, less drift",
    needs: ["train grpo"],
  },
];

export const PHASE_3: readonly Criterion[] = [
  {
    id: "several_objectives",
    title: "A run with several objectives, or with a constraint",
    needs: ["train grpo"],
  },
  {
    id: "tradeoff_curve",
    title: "The trade-off as a curve over several runs",
    needs: ["train grpo", "sweep"],
  },
];
