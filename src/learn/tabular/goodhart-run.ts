/** Goodhart as a run: proxy and truth under rising pressure, the hacks found, the class patched. */

import type { Example } from "../../core/records.ts";
import type { ScoreResult, ScorerIdentity } from "../../core/score.ts";
import { resultRow } from "../../loops/row.ts";
import type { FolderOptions } from "../../runs/may-write.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import type { FinishedRun } from "../../runs/scored-run.ts";
import { type Experiment, rewardIdentity, writeExperiment } from "./experiment.ts";
import { goodhartCharts } from "./experiment-charts.ts";
import {
  findHacks,
  type Hack,
  NAIVE,
  naiveVerifier,
  type PressureOptions,
  type PressurePoint,
  patchedVerifier,
  type Question,
  underPressure,
  type Verifier,
  writeCompletion,
} from "./goodhart.ts";

interface SyncScorer {
  score(example: Example, completion: string): ScoreResult;
}

export interface GoodhartRunOptions extends FolderOptions {
  readonly outdir: string;
  readonly problems: readonly Question[];
  /** What is really wanted: the strict scorer of Loop A, unchanged. It scores the run's rows. */
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
const HACKS = 5;

/** Optimises against the naive and the patched verifier, finds hacks, and writes a run. */
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
  const naive = underPressure(pressure(naiveVerifier));
  const last = naive.at(-1) as PressurePoint;
  return {
    naive,
    patched: underPressure(pressure(patchedVerifier)),
    hacks: findHacks(last.policy, pressure(naiveVerifier), HACKS),
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
    title: "Goodhart: proxy up, truth down",
    happened:
      `under the naive verifier the proxy rises to ${last.proxy_reward.toFixed(3)} while the truth peaks at ${peak.true_reward.toFixed(3)} ` +
      `(after ${peak.pressure} updates) and ends at ${last.true_reward.toFixed(3)}; under the patched one the truth ends at ${patched.at(-1)?.true_reward.toFixed(3)}`,
    remarks: [
      "- Hacks that the optimiser found, paid by the proxy and worth nothing:",
      ...hacks.map(
        ({ problem, completion }) =>
          `  - ${problem.prompt} expected ${problem.answer}: \`${JSON.stringify(completion)}\``,
      ),
      pressureTable("the naive verifier", naive),
      "![proxy and truth under the naive verifier](goodhart.svg)",
      pressureTable("the patched verifier; here proxy and truth coincide", patched),
      "![proxy and truth under the patched verifier](goodhart_patched.svg)",
    ],
    files: { "goodhart.csv": csv({ naive, patched }), ...(await goodhartCharts(naive, patched)) },
  };
}

/** How the optimised policy does by the rule that was meant, in that rule's own codes. */
function strictRow(question: Question, { policy }: PressurePoint, scorer: SyncScorer): ResultRow {
  const { completion } = writeCompletion(policy, question, ["measure", question.id]);
  const { reward, code, details } = scorer.score(asExample(question), completion);
  const proxy = { proxy_reward: naiveVerifier(question, completion) };
  const judged = { reward, code, details: { ...details, ...proxy } };
  return resultRow(asExample(question), { id: question.id, completion }, judged);
}

function asExample({ id, prompt, answer }: Question): Example {
  return { id, prompt, expected_answer: answer };
}

function pressureTable(title: string, points: readonly PressurePoint[]): string {
  const rows = points.map(
    (p) => `| ${p.pressure} | ${p.proxy_reward.toFixed(3)} | ${p.true_reward.toFixed(3)} |`,
  );
  return `Under ${title}:\n\n| updates | proxy | truth |\n|---|---|---|\n${rows.join("\n")}`;
}

function csv(runs: Record<string, readonly PressurePoint[]>): string {
  const lines = Object.entries(runs).flatMap(([verifier, points]) =>
    points.map((p) => [verifier, p.pressure, p.proxy_reward, p.true_reward].join(",")),
  );
  return `verifier,pressure,proxy_reward,true_reward\n${lines.join("\n")}\n`;
}
