/** Goodhart as a run: proxy and truth under rising pressure, the hacks found, the class patched. */

import type { FinishedRun, WriterOptions } from "../../runs/writer.ts";
import {
  findHacks,
  GOODHART_MODULE,
  type Hack,
  naiveVerifier,
  type PressureOptions,
  type PressurePoint,
  patchedVerifier,
  type Question,
  underPressure,
  type Verifier,
  writeCompletion,
} from "./goodhart.ts";
import { writeExperiment } from "./microscope.ts";
import { goodhartCharts } from "./microscope-charts.ts";

export interface GoodhartRunOptions extends WriterOptions {
  readonly outdir: string;
  readonly problems: readonly Question[];
  /** What is really wanted: the strict scorer. */
  readonly truth: Verifier;
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

export async function runGoodhart(
  options: GoodhartRunOptions,
): Promise<FinishedRun & { findings: GoodhartFindings }> {
  const { problems, truth, seed } = options;
  const pressure = (proxy: Verifier): PressureOptions => ({
    problems,
    proxy,
    truth,
    seed,
    levels: LEVELS,
    ...LEARNING,
  });
  const naive = underPressure(pressure(naiveVerifier));
  const patched = underPressure(pressure(patchedVerifier));
  const last = naive.at(-1) as PressurePoint;
  const hacks = findHacks(last.policy, pressure(naiveVerifier), HACKS);
  const peak = naive.reduce((a, b) => (b.true_reward > a.true_reward ? b : a));
  const figures = ({ policy: _, ...rest }: PressurePoint) => rest;
  const run = await writeExperiment(
    options.outdir,
    {
      command: "goodhart-demo",
      reward: {
        name: "naive_integer_anywhere",
        version: "1",
        spec: "Pays 1 if the expected integer appears anywhere in the completion. The run's rows are scored by the strict scorer.",
        module: GOODHART_MODULE,
      },
      learning: {
        algorithm: "reinforce",
        proxy: "naive",
        seed,
        updates: LEVELS.at(-1) as number,
        ...LEARNING,
      },
      parameters: last.policy,
      rows: problems.map((problem) => strictRow(problem, last, truth)),
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
        "![proxy and truth against pressure](goodhart.svg)",
      ],
      files: { "goodhart.csv": csv({ naive, patched }), ...(await goodhartCharts(naive, patched)) },
    },
    options,
  );
  return { ...run, findings: { naive, patched, hacks } };
}

/** How the optimised policy does by the rule that was meant. */
function strictRow(problem: Question, { policy }: PressurePoint, truth: Verifier) {
  const { completion } = writeCompletion(policy, problem, ["measure", problem.id]);
  const [proxy, reward] = [naiveVerifier(problem, completion), truth(problem, completion)];
  return {
    id: problem.id,
    prompt: problem.prompt,
    expected_answer: problem.answer,
    completion,
    reward,
    outcome_code: reward === 1 ? "right" : proxy === 1 ? "hack" : "wrong",
    details: { proxy_reward: proxy },
  };
}

function csv(runs: Record<string, readonly PressurePoint[]>): string {
  const lines = Object.entries(runs).flatMap(([verifier, points]) =>
    points.map((p) => [verifier, p.pressure, p.proxy_reward, p.true_reward].join(",")),
  );
  return `verifier,pressure,proxy_reward,true_reward\n${lines.join("\n")}\n`;
}
