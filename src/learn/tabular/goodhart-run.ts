/** Goodhart's law as a run: both rewards over the updates, the exploits found, and a patched verifier. */

import type { Example } from "../../core/records.ts";
import type { ScoreResult, ScorerIdentity } from "../../core/score.ts";
import { resultRow } from "../../loops/row.ts";
import type { FolderOptions } from "../../runs/run-folder.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import type { FinishedRun } from "../../runs/scored-run.ts";
import { type Experiment, rewardIdentity, writeExperiment } from "./experiment.ts";
import { goodhartCharts } from "./experiment-charts.ts";
import {
  findHacks,
  type Hack,
  NAIVE,
  naiveVerifier,
  optimiseProxy,
  type PressureOptions,
  type PressurePoint,
  patchedVerifier,
  type Question,
  type Verifier,
  writeCompletion,
} from "./goodhart.ts";

interface SyncScorer {
  score(example: Example, completion: string): ScoreResult;
}

export interface GoodhartRunOptions extends FolderOptions {
  readonly outdir: string;
  readonly problems: readonly Question[];
  /** The intended reward: the strict scorer of Loop A. It scores the rows of the run. */
  readonly truth: { readonly scorer: SyncScorer; readonly identity: ScorerIdentity };
  readonly seed: number;
}

export interface GoodhartFindings {
  readonly naive: readonly PressurePoint[];
  readonly patched: readonly PressurePoint[];
  readonly hacks: readonly Hack[];
}

const LEVELS = [0, 5, 10, 20, 40, 80, 160, 320];
const LEARNING = { lr: 1, batch: 64 };
const EXPLOITS = 5;

/** Optimises against the naive and the patched verifier, finds exploits, and writes a run. */
export async function runGoodhart(
  options: GoodhartRunOptions,
): Promise<FinishedRun & { findings: GoodhartFindings }> {
  let findings: GoodhartFindings | undefined;
  const make = () => {
    findings = optimise(options);
    return goodhartExperiment(options, findings);
  };
  const run = await writeExperiment(options.outdir, make, options);
  return { ...run, findings: findings as unknown as GoodhartFindings };
}

function optimise({ problems, truth: { scorer }, seed }: GoodhartRunOptions): GoodhartFindings {
  const truth: Verifier = (question, completion) =>
    scorer.score(asExample(question), completion).reward;
  const pressure = (proxy: Verifier): PressureOptions => ({
    problems,
    proxy,
    truth,
    seed,
    levels: LEVELS,
    ...LEARNING,
  });
  const naive = optimiseProxy(pressure(naiveVerifier));
  const last = naive.at(-1) as PressurePoint;
  return {
    naive,
    patched: optimiseProxy(pressure(patchedVerifier)),
    hacks: findHacks(last.policy, pressure(naiveVerifier), EXPLOITS),
  };
}

async function goodhartExperiment(
  { problems, truth, seed }: GoodhartRunOptions,
  { naive, patched, hacks }: GoodhartFindings,
): Promise<Experiment> {
  const last = naive.at(-1) as PressurePoint;
  const peak = naive.reduce((a, b) => (b.true_reward > a.true_reward ? b : a));
  const figures = ({ policy: _, ...rest }: PressurePoint) => rest;
  return {
    command: "goodhart-demo",
    reward: truth.identity,
    learning: {
      algorithm: "reinforce",
      proxy: { ...rewardIdentity(NAIVE) },
      seed,
      updates: LEVELS.at(-1) as number,
      ...LEARNING,
    },
    parameters: last.policy,
    rows: problems.map((question) => strictRow(question, last, truth.scorer)),
    metrics: {
      naive: naive.map(figures),
      patched: patched.map(figures),
      hacks_found: hacks.length,
    },
    title: "Goodhart's law: proxy reward rises, strict reward falls",
    happened:
      `with the naive verifier the proxy reward rises to ${last.proxy_reward.toFixed(3)} while the strict reward peaks at ${peak.true_reward.toFixed(3)} ` +
      `(after ${peak.pressure} updates) and ends at ${last.true_reward.toFixed(3)}; with the patched one the strict reward ends at ${patched.at(-1)?.true_reward.toFixed(3)}`,
    remarks: [
      "- Exploits found by the optimiser (proxy reward 1, strict reward 0):",
      ...hacks.map(
        ({ problem, completion }) =>
          `  - ${problem.prompt} expected ${problem.answer}: \`${JSON.stringify(completion)}\``,
      ),
      pressureTable("the naive verifier", naive),
      "![proxy and strict reward with the naive verifier](goodhart.svg)",
      pressureTable("the patched verifier; both rewards coincide", patched),
      "![proxy and strict reward with the patched verifier](goodhart_patched.svg)",
    ],
    files: { "goodhart.csv": csv({ naive, patched }), ...(await goodhartCharts(naive, patched)) },
  };
}

/** The optimised policy scored by the strict scorer. */
function strictRow(question: Question, { policy }: PressurePoint, scorer: SyncScorer): ResultRow {
  const { completion } = writeCompletion(policy, question, ["measure", question.id]);
  const { reward, code, details } = scorer.score(asExample(question), completion);
  const proxy = { proxy_reward: naiveVerifier(question, completion) };
  const scored = { reward, code, details: { ...details, ...proxy } };
  return resultRow(asExample(question), { id: question.id, completion }, scored);
}

function asExample({ id, prompt, answer }: Question): Example {
  return { id, prompt, expected_answer: answer };
}

function pressureTable(title: string, points: readonly PressurePoint[]): string {
  const rows = points.map(
    (p) => `| ${p.pressure} | ${p.proxy_reward.toFixed(3)} | ${p.true_reward.toFixed(3)} |`,
  );
  return `With ${title}:\n\n| updates | proxy | strict |\n|---|---|---|\n${rows.join("\n")}`;
}

function csv(runs: Record<string, readonly PressurePoint[]>): string {
  const lines = Object.entries(runs).flatMap(([verifier, points]) =>
    points.map((p) => [verifier, p.pressure, p.proxy_reward, p.true_reward].join(",")),
  );
  return `verifier,pressure,proxy_reward,true_reward\n${lines.join("\n")}\n`;
}
