/** Evaluations of checkpoints on a small test set: an untrained policy, π₀, and what became of it. */

import { readFile } from "node:fs/promises";
import path from "node:path";
import type { JsonObject } from "../core/json.ts";
import { loadCheckpoint, saveCheckpoint } from "../policy/checkpoint.ts";
import { initialise } from "../policy/initialise.ts";
import { nothingSeen } from "../policy/seen-prompts.ts";
import { provenancePath } from "../runs/manifest.ts";
import { readJson, writeText } from "./files.ts";
import type { Outcome } from "./finding.ts";
import type { LabExample, Laboratory } from "./laboratory.ts";

const ROWS = 40;
export const SMALL_SAMPLING = { max_tokens: 16 } as const;

export const testSet = (lab: Laboratory): LabExample[] => lab.examples(ROWS);

/** A policy as π₀ was before its first step; of another seed, another policy. */
export function untrained(lab: Laboratory, seed = 0): Promise<string> {
  return lab.once(`untrained policy ${seed}`, async () => {
    const { architecture, tokenizer, maxLength } = await loadCheckpoint(await lab.pi0());
    const dir = path.join(lab.dir, seed === 0 ? "untrained" : `untrained-${seed}`);
    await saveCheckpoint(dir, {
      ...{ architecture, tokenizer, maxLength, trained: null, seen: nothingSeen() },
      parameters: initialise(architecture, seed),
    });
    return dir;
  });
}

/** The answers of a checkpoint to the test set. */
export async function answersOf(lab: Laboratory, policy: string): Promise<string> {
  const dataset = await lab.dataset(testSet(lab));
  return lab.rollout({ policy, dataset, sampling: SMALL_SAMPLING });
}

/** The evaluation of a file of answers to the test set. */
export async function scored(lab: Laboratory, answers: string, name: string): Promise<string> {
  return lab.evaluated(await lab.dataset(testSet(lab)), answers, name);
}

/** An untrained policy against this run, claimed to be a better policy. */
export async function againstUntrained(lab: Laboratory, run: string): Promise<Outcome> {
  return lab.gate(await untrainedRun(lab), run, { claim: "policy" });
}

/** The untrained policy on the test set; made once. */
export const untrainedRun = (lab: Laboratory): Promise<string> =>
  lab.once("untrained run", async () =>
    scored(lab, await answersOf(lab, await untrained(lab)), "untrained"),
  );

/** π₀'s answers to the test set; made once. */
export const pi0Answers = (lab: Laboratory): Promise<string> =>
  lab.once("pi0 answers", async () => answersOf(lab, await lab.pi0()));

/** π₀ on the test set; made once. */
export const smallPi0Run = (lab: Laboratory): Promise<string> =>
  lab.once("small pi0 run", async () => scored(lab, await pi0Answers(lab), "small-pi0"));

/** π₀'s answers to the test set, scored under another provenance. */
export async function withProvenance(
  lab: Laboratory,
  name: string,
  change: (provenance: JsonObject) => object,
): Promise<string> {
  const honest = await pi0Answers(lab);
  const answers = await writeText(`${lab.fresh(name)}.jsonl`, await readFile(honest, "utf8"));
  const provenance = change(await readJson(provenancePath(honest)));
  await writeText(provenancePath(answers), JSON.stringify(provenance));
  return scored(lab, answers, name);
}
