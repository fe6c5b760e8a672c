/** The committed samples of the error model: one completion per dev example, and packs of eight. */

import type { Completion, Sample, SelectionPack } from "../../src/core/records.ts";
import { rngAt } from "../../src/core/rng.ts";
import type { Problem } from "../../src/datasets/problems.ts";
import { examplesOf, heldOutProblems } from "../../src/datasets/splits.ts";
import { skillOf, type Utterance, utter } from "./error-model.ts";

const SEED = "arithmetic rollouts 1";
const SAMPLES = 8;
/** The frozen completions model a lower temperature, which is right more often. */
const COOLING = 0.2;

export function frozenRollouts(): Completion[] {
  return devProblems().map(({ id, problem }) => {
    const rng = rngAt(SEED, "frozen", id);
    const utterance = utter(problem, skillOf(problem) + COOLING, rng);
    return { id, ...(rng.next() < 0.08 ? bare(utterance) : utterance) };
  });
}

export function selectionPacks(): SelectionPack[] {
  return devProblems().map(({ id, problem }) => {
    const skill = skillOf(problem);
    const samples = Array.from({ length: SAMPLES }, (_, sample) => {
      const rng = rngAt(SEED, "pack", id, sample);
      return packed(utter(problem, skill, rng), rng.next());
    });
    return { id, samples };
  });
}

function devProblems(): { id: string; problem: Problem }[] {
  const problems = heldOutProblems("dev");
  return examplesOf("dev").map(({ id }, i) => ({ id, problem: problems[i] as Problem }));
}

/** As in recorded data: most rows have the log-prob, some do not, some have only the text. */
function packed(utterance: Utterance, recorder: number): string | Sample {
  if (recorder < 0.08) return utterance.completion;
  if (recorder < 0.16) return bare(utterance);
  return { completion: utterance.completion, sum_logprob: utterance.sum_logprob };
}

function bare({ completion }: Utterance): Sample {
  return { completion };
}
