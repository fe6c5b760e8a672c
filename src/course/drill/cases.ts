/** The cases of the drill: two runs, what somebody claims about them, and what shows the cause. */

import path from "node:path";
import {
  type Completion,
  rngAt,
  type SelectionPack,
  toCompletion,
  toSelectionPack,
} from "../../core/index.ts";
import { examplesOf } from "../../datasets/index.ts";
import { gate } from "../../gate/index.ts";
import {
  initialGoodhartPolicy,
  naiveVerifier,
  optimiseProxy,
  type Question,
  writeCompletion,
} from "../../learn/index.ts";
import { builtInPolicy, evaluate, select } from "../../loops/index.ts";
import { JsonlFile, type ResultRow, type Run } from "../../runs/index.ts";
import { mathFinalLine } from "../../scorers/index.ts";
import { PACKAGE_ROOT } from "../workspace.ts";
import { writeAtomically } from "../workspace-files.ts";
import type { Cause } from "./causes.ts";
import { BRITTLE, LENIENT, NAIVE, STRICT } from "./scorers.ts";

export interface Case {
  readonly cause: Cause;
  readonly claim: string;
  /** Writes the runs `before` and `after` below the folder. */
  make(folder: string, seed: number): Promise<void>;
  /** What in the two runs shows the cause. */
  evidence(before: Run, after: Run): Promise<string> | string;
}

const SAMPLING = { temperature: 1, seed: 0 };

export const CASES: readonly Case[] = [
  {
    cause: "policy",
    claim: "The new policy is better than the old one.",
    async make(folder) {
      const before = (await packs()).map(({ id, samples }) => ({
        id,
        completion: textOf(samples[0]),
      }));
      await score(folder, "before", before, "math_final_line", "policy-1");
      await score(folder, "after", await frozen(), "math_final_line", "policy-2");
    },
    async evidence({ dir: baseline }, { dir: candidate }) {
      const { decision, knobs } = await gate({ baseline, candidate, claim: "policy" });
      return `gate --claim policy: ${decision}, knob ${knobs.join(", ")}`;
    },
  },
  {
    cause: "selection",
    claim: "Training has doubled the pass rate.",
    async make(folder) {
      for (const [name, n] of [
        ["before", 1],
        ["after", 4],
      ] as const) {
        const policy = builtInPolicy("best");
        const options = { dataset: examplesOf("dev"), samples: await packs(), policy, n };
        await select({ ...options, outdir: path.join(folder, name), stated: stated("policy-1") });
      }
    },
    evidence: (before, after) =>
      `manifest.json: loop ${after.manifest.loop}, selection.n ${before.manifest.selection?.n} → ${after.manifest.selection?.n}`,
  },
  {
    cause: "scorer",
    claim: "The model has improved since last week.",
    async make(folder) {
      const [old, next] = await Promise.all([
        scorerFile(folder, "scorer.ts", STRICT),
        scorerFile(folder, "scorer-next.ts", LENIENT),
      ]);
      await score(folder, "before", await frozen(), old, "policy-1");
      await score(folder, "after", await frozen(), next, "policy-1");
    },
    evidence: (before, after) =>
      `manifest.json: scorer.version ${before.manifest.scorer.version} → ${after.manifest.scorer.version}, answers_sha256 ${sameAnswers(before, after)}`,
  },
  {
    cause: "hacking",
    claim: "After 320 updates the task is solved.",
    async make(folder, seed) {
      const scorer = await scorerFile(folder, "scorer.ts", NAIVE);
      const [first, last] = hackedCompletions(seed);
      await score(folder, "before", first, scorer, "policy-1");
      await score(folder, "after", last, scorer, "policy-2");
    },
    async evidence(before, after) {
      const [first, last] = [await strictly(before), await strictly(after)];
      return `results.jsonl: texts with many numbers; the strict scorer accepts ${first} rows before and ${last} after`;
    },
  },
  {
    cause: "parser",
    claim: "The new policy cannot do arithmetic. Roll it back.",
    async make(folder, seed) {
      const scorer = await scorerFile(folder, "scorer.ts", BRITTLE);
      const rows = await frozen();
      const ends = ({ id }: Completion) => (rngAt(seed, "drill", id).next() < 0.7 ? "\n" : "");
      const ended = rows.map((row) => ({ ...row, completion: row.completion + ends(row) }));
      await score(folder, "before", rows, scorer, "policy-1");
      await score(folder, "after", ended, scorer, "policy-2");
    },
    async evidence(_, after) {
      const wronged = await count(after, (row) => row.reward === 0 && isRight(row));
      return `results.jsonl: ${wronged} rows without a reward are right by the scorer's own spec; scorer.ts does not remove the white space at the end`;
    },
  },
  {
    cause: "off-policy",
    claim: "500 updates did no harm: the trained policy passes as before.",
    async make(folder) {
      await score(folder, "before", await frozen(), "math_final_line", "policy-1");
      await score(folder, "after", await frozen(), "math_final_line", "policy-1-step-500");
    },
    evidence: (before, after) =>
      `manifest.json: policy.name ${before.manifest.policy?.name} → ${after.manifest.policy?.name}, answers_sha256 ${sameAnswers(before, after)}`,
  },
];

const stated = (policy: string) => ({ policy, sampling: SAMPLING });

async function score(
  folder: string,
  name: string,
  completions: readonly Completion[],
  scorer: string,
  policy: string,
): Promise<void> {
  const outdir = path.join(folder, name);
  await evaluate({
    dataset: examplesOf("dev"),
    completions,
    scorer,
    outdir,
    stated: stated(policy),
  });
}

async function scorerFile(folder: string, name: string, text: string): Promise<string> {
  const file = path.join(folder, name);
  await writeAtomically(file, text, { replace: true });
  return file;
}

// --- completions ----------------------------------------------------------------------------------

const frozen = () => rollouts("frozen_rollouts_dev.jsonl", toCompletion);
const packs = () => rollouts<SelectionPack>("selection_pack_dev.jsonl", toSelectionPack);

async function rollouts<T>(name: string, parse: (fields: Record<string, unknown>) => T) {
  const rows: T[] = [];
  const file = new JsonlFile(path.join(PACKAGE_ROOT, "data/rollouts", name), parse);
  for await (const batch of file.batches()) rows.push(...batch);
  return rows;
}

function textOf(sample: SelectionPack["samples"][number] | undefined): string {
  return typeof sample === "string" ? sample : (sample?.completion ?? "");
}

const UPDATES = 320;

/** Samples of the policy before and after it was optimised against the naive verifier. */
function hackedCompletions(seed: number): [Completion[], Completion[]] {
  const problems: Question[] = examplesOf("dev").map(({ id, prompt, expected_answer }) => ({
    ...{ id, prompt },
    answer: Number(expected_answer),
  }));
  const [last] = optimiseProxy({
    ...{ problems, seed, proxy: naiveVerifier, truth: naiveVerifier },
    ...{ lr: 1, batch: 64, levels: [UPDATES] },
  });
  const write = (policy = initialGoodhartPolicy) =>
    problems.map((problem) => ({
      id: problem.id,
      completion: writeCompletion(policy, problem, [seed, "drill", problem.id]).completion,
    }));
  return [write(), write(last?.policy)];
}

// --- evidence -------------------------------------------------------------------------------------

const sameAnswers = ({ manifest: a }: Run, { manifest: b }: Run) =>
  a.answers_sha256 === b.answers_sha256 ? "the same" : "different";

async function count(run: Run, holds: (row: ResultRow) => boolean): Promise<number> {
  let found = 0;
  for await (const rows of run.results().batches()) found += rows.filter(holds).length;
  return found;
}

const isRight = ({ id, prompt, completion, expected_answer }: ResultRow): boolean =>
  mathFinalLine.score({ id, prompt, expected_answer }, completion ?? "").reward === 1;

const strictly = (run: Run) => count(run, isRight);
