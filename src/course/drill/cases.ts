/** The kinds of pair that the drill makes: two runs with one cause, and what in them shows it. */

import path from "node:path";
import { type Completion, type Example, rngAt } from "../../core/index.ts";
import { gate } from "../../gate/index.ts";
import { builtInPolicy, evaluate, select } from "../../loops/index.ts";
import type { ResultRow, Run } from "../../runs/index.ts";
import { mathFinalLine } from "../../scorers/index.ts";
import { writeAtomically } from "../workspace-files.ts";
import {
  fewOtherAnswers,
  frozenAnswers,
  hackedAnswers,
  sampledAnswers,
  samplePacks,
} from "./answers.ts";
import type { Cause } from "./causes.ts";
import type { Direction } from "./claims.ts";
import { BRITTLE_AT_END, BRITTLE_AT_START, LENIENT, NAIVE, STRICT } from "./scorers.ts";

/** What the seed draws for one pair. */
export interface Draw {
  readonly seed: number;
  readonly examples: readonly Example[];
  /** Samples of the larger selection. */
  readonly n: number;
  /** Updates of the policy that learns to cheat. */
  readonly updates: number;
}

export interface Case {
  readonly cause: Cause;
  /** How the pass rate moves. */
  readonly direction: Direction;
  /** Writes the runs `before` and `after` below the folder. */
  make(folder: string, draw: Draw): Promise<void>;
  /** What in the two runs shows the cause. */
  evidence(before: Run, after: Run): Promise<string> | string;
}

export const CASES: readonly Case[] = [
  policyCase("rises", (examples) => sampledAnswers(examples, 0), frozenAnswers),
  policyCase("falls", frozenAnswers, (examples) => sampledAnswers(examples, 0)),
  policyCase("stays", frozenAnswers, fewOtherAnswers),
  policyCase("stays", fewOtherAnswers, frozenAnswers),
  selectionCase("rises", (n) => [1, n]),
  selectionCase("falls", (n) => [n, 1]),
  scorerCase("rises", STRICT, LENIENT),
  scorerCase("falls", LENIENT, STRICT),
  {
    cause: "hacking",
    direction: "rises",
    async make(folder, { seed, examples, updates }) {
      const scorer = await scorerFile(folder, "scorer.ts", NAIVE);
      const [first, last] = hackedAnswers(examples, seed, updates);
      await score({ folder, name: "before", examples }, first, scorer, "policy-1");
      await score({ folder, name: "after", examples }, last, scorer, "policy-2");
    },
    async evidence(before, after) {
      const [first, last] = [await strictly(before), await strictly(after)];
      return `results.jsonl: texts with many numbers; the strict scorer accepts ${first} rows before and ${last} after`;
    },
  },
  parserCase("at the end", BRITTLE_AT_END, (text) => `${text}\n`),
  parserCase("at the start", BRITTLE_AT_START, (text) => ` ${text}`),
  {
    cause: "off-policy",
    direction: "stays",
    async make(folder, { examples, updates }) {
      const answers = await frozenAnswers(examples);
      const place = { folder, examples };
      const trained = `policy-1-step-${updates}`;
      await score({ ...place, name: "before" }, answers, "math_final_line", "policy-1");
      await score({ ...place, name: "after" }, answers, "math_final_line", trained);
    },
    evidence: (before, after) =>
      `manifest.json: policy.name ${before.manifest.policy?.name} → ${after.manifest.policy?.name}, answers_sha256 ${sameAnswers(before, after)}`,
  },
];

type AnswersTo = (examples: readonly Example[], seed: number) => Promise<Completion[]>;

function policyCase(direction: Direction, before: AnswersTo, after: AnswersTo): Case {
  return {
    ...{ cause: "policy", direction },
    async make(folder, { examples, seed }) {
      const place = { folder, examples };
      const [old, next] = [await before(examples, seed), await after(examples, seed)];
      await score({ ...place, name: "before" }, old, "math_final_line", "policy-1");
      await score({ ...place, name: "after" }, next, "math_final_line", "policy-2");
    },
    async evidence({ dir: baseline }, { dir: candidate }) {
      const { decision, knobs } = await gate({ baseline, candidate, claim: "policy" });
      return `gate --claim policy: ${decision}, knob ${knobs.join(", ")}`;
    },
  };
}

function selectionCase(direction: Direction, sizes: (n: number) => [number, number]): Case {
  return {
    ...{ cause: "selection", direction },
    async make(folder, { examples, n }) {
      for (const [i, size] of sizes(n).entries())
        await select({
          ...{ dataset: examples, samples: await samplePacks(examples) },
          ...{ policy: builtInPolicy("best"), n: size, stated: stated("policy-1") },
          outdir: path.join(folder, i === 0 ? "before" : "after"),
        });
    },
    evidence: (before, after) =>
      `manifest.json: loop ${after.manifest.loop}, selection.n ${before.manifest.selection?.n} → ${after.manifest.selection?.n}`,
  };
}

function scorerCase(direction: Direction, before: string, after: string): Case {
  return {
    ...{ cause: "scorer", direction },
    async make(folder, { examples }) {
      const place = { folder, examples };
      const old = await scorerFile(folder, "scorer.ts", before);
      const next = await scorerFile(folder, "scorer-next.ts", after);
      const answers = await frozenAnswers(examples);
      await score({ ...place, name: "before" }, answers, old, "policy-1");
      await score({ ...place, name: "after" }, answers, next, "policy-1");
    },
    evidence: (first, last) =>
      `manifest.json: scorer.version ${first.manifest.scorer.version} → ${last.manifest.scorer.version}, answers_sha256 ${sameAnswers(first, last)}`,
  };
}

/** The scorer does not keep to its spec: it does not ignore the white space at one end. */
function parserCase(where: string, scorerText: string, pad: (text: string) => string): Case {
  return {
    ...{ cause: "parser", direction: "falls" },
    async make(folder, { seed, examples }) {
      const place = { folder, examples };
      const scorer = await scorerFile(folder, "scorer.ts", scorerText);
      const answers = await frozenAnswers(examples);
      const isPadded = ({ id }: Completion) => rngAt(seed, "drill", where, id).next() < 0.7;
      const padded = answers.map((one) =>
        isPadded(one) ? { ...one, completion: pad(one.completion) } : one,
      );
      await score({ ...place, name: "before" }, answers, scorer, "policy-1");
      await score({ ...place, name: "after" }, padded, scorer, "policy-2");
    },
    async evidence(_, after) {
      const wronged = await count(after, (row) => row.reward === 0 && isRight(row));
      return `results.jsonl: ${wronged} rows without a reward are right by the scorer's own spec; scorer.ts does not remove the white space ${where}`;
    },
  };
}

const stated = (policy: string) => ({ policy, sampling: { temperature: 1, seed: 0 } });

async function score(
  place: { readonly folder: string; readonly name: string; readonly examples: readonly Example[] },
  completions: readonly Completion[],
  scorer: string,
  policy: string,
): Promise<void> {
  const outdir = path.join(place.folder, place.name);
  const dataset = place.examples;
  await evaluate({ dataset, completions, scorer, outdir, stated: stated(policy) });
}

async function scorerFile(folder: string, name: string, text: string): Promise<string> {
  const file = path.join(folder, name);
  await writeAtomically(file, text, { replace: true });
  return file;
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
