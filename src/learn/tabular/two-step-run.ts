/** The two-step experiment as a run. */

import { fileURLToPath } from "node:url";
import { dataError } from "../../core/errors.ts";
import type { FolderOptions } from "../../runs/run-folder.ts";
import type { FinishedRun } from "../../runs/scored-run.ts";
import { sha256OfFile } from "../../runs/whole-file.ts";
import { type Experiment, episodeRow, writeExperiment } from "./experiment.ts";
import { twoStepCharts } from "./experiment-charts.ts";
import { softmax, type Vector } from "./softmax.ts";
import {
  drawsAt,
  expectedReward,
  FIRST,
  initialTwoStepPolicy,
  playTwoStep,
  SECOND,
  TWO_STEP,
  type TwoStepOptions,
  type TwoStepPolicy,
  type TwoStepProgram,
  type TwoStepStep,
  trainTwoStep,
  twoStepDraws,
} from "./two-step.ts";

export interface TwoStepRunOptions extends TwoStepOptions, FolderOptions {
  readonly outdir: string;
  /** A custom program in place of the whole training; it gets the random numbers of the seed. */
  readonly program?: TwoStepProgram | undefined;
  /** `import.meta.url` of the file that holds `update` or `program`, for the manifest. */
  readonly module?: string | undefined;
}

const EVALUATION_EPISODES = 500;

/** Trains the two-step policy and writes a run. */
export async function runTwoStep(options: TwoStepRunOptions): Promise<FinishedRun> {
  return writeExperiment(options.outdir, () => twoStepExperiment(options), options);
}

async function twoStepExperiment(options: TwoStepRunOptions): Promise<Experiment> {
  const { update, program, module } = options;
  const own = program ? "program" : update ? "update" : undefined;
  const log = program
    ? checkedLog(program([...twoStepDraws(options)], options), options.steps)
    : [
        ...trainTwoStep({
          ...options,
          ...(update && { update: (...args) => checkedPolicy(update(...args), "update()") }),
        }),
      ];
  const policy = log.at(-1)?.policy_after ?? initialTwoStepPolicy;
  const first = softmax(policy.first);
  const learned = policy.first.some((logit, i) => logit !== initialTwoStepPolicy.first[i]);
  const verdict = describeOutcome(options, log.length, learned, first[1] as number);
  return {
    command: "two-step-mdp",
    reward: TWO_STEP,
    learning: {
      algorithm: "reinforce",
      lr: options.lr,
      steps: options.steps,
      seed: options.seed,
      baseline: options.baseline ? "running mean" : "none",
      ...(own
        ? {
            [own]: "own",
            source_sha256: module ? await sha256OfFile(fileURLToPath(module)) : null,
          }
        : { credit: options.credit }),
    },
    parameters: policy,
    rows: evaluate(policy),
    metrics: {
      steps: log.length,
      verdict,
      first_decision_learned: learned,
      first_probabilities: first,
      second_probabilities: policy.second.map((logits) => softmax(logits)),
      expected_reward: expectedReward(policy),
    },
    log,
    title: `Two decisions, one reward, ${own ? `custom ${own}` : `credit for ${options.credit === "both" ? "both" : "the last only"}`}`,
    happened: twoStepSentence({ verdict, expected_reward: expectedReward(policy) }),
    remarks: [
      `- ${verdict[0]?.toUpperCase()}${verdict.slice(1)}.`,
      ...table(policy),
      ...(log.length > 0 ? ["![probabilities](probabilities.svg)"] : []),
    ],
    files: await twoStepCharts(log),
  };
}

/** The numbers of a run in a sentence, from its metrics. */
export function twoStepSentence(metrics: Readonly<Record<string, unknown>>): string {
  return `expected reward ${Number(metrics.expected_reward).toFixed(4)}; ${metrics.verdict}`;
}

/** What the first decision learned, and why. */
function describeOutcome(
  { steps, lr }: TwoStepOptions,
  done: number,
  learned: boolean,
  probability: number,
): string {
  if (done < steps) return `diverged: the logits were no longer finite after step ${done}`;
  if (steps === 0 || lr === 0) return "nothing was learned: no updates, or a learning rate of 0";
  if (!learned) {
    return "the first decision never learned: its probabilities are still 0.5: no update reached it";
  }
  const chooses = `it chooses B with probability ${probability.toFixed(4)}`;
  return lr < 0
    ? `inverted: a negative learning rate descends, so the first decision learned the worse option; ${chooses}`
    : `the first decision learned: ${chooses}`;
}

/** The log of a custom program: a line for each step, with these fields and no others. */
function checkedLog(log: readonly TwoStepStep[], steps: number): TwoStepStep[] {
  const found = Array.isArray(log) ? log.length : typeof log;
  if (found !== steps) {
    throw dataError(
      `the program returned ${typeof found === "number" ? `${found} lines` : found} for ${steps} episodes`,
      "Return an array with one line for each episode.",
    );
  }
  return log.map((line, i) => {
    const step = i + 1;
    const what = `the line of step ${step}`;
    const { first, second, reward, baseline, advantage } = line;
    const figures = { first, second, reward, baseline, advantage };
    const wrong = Object.entries(figures).find(([, value]) => !Number.isFinite(value));
    if (line.step !== step) {
      throw dataError(`${what} has step ${JSON.stringify(line.step)}`, "Number the lines from 1.");
    }
    if (wrong) {
      const [name, value] = wrong;
      throw dataError(`${what} has ${name} ${JSON.stringify(value)}`, `Give ${name} a number.`);
    }
    return {
      ...{ step, ...figures, policy_after: checkedPolicy(line.policy_after, what) },
      first_probabilities_before: line.first_probabilities_before,
      second_probabilities_before: line.second_probabilities_before,
    };
  });
}

/** Checks a policy that custom code returned. */
function checkedPolicy(policy: TwoStepPolicy, from: string): TwoStepPolicy {
  const pair = (logits: unknown) =>
    Array.isArray(logits) && logits.length === 2 && logits.every((x) => typeof x === "number");
  if (pair(policy?.first) && Array.isArray(policy.second) && policy.second.length === 2) {
    if (policy.second.every(pair)) return policy;
  }
  throw dataError(
    `${from} gave ${JSON.stringify(policy)}, which is not a policy`,
    "Return { first: [a, b], second: [[c, d], [e, f]] }, all numbers.",
  );
}

function* evaluate(policy: TwoStepPolicy) {
  for (let episode = 1; episode <= EVALUATION_EPISODES; episode++) {
    const { first, second, reward } = playTwoStep(policy, drawsAt("two-step evaluation", episode));
    const id = `episode-${String(episode).padStart(3, "0")}`;
    yield episodeRow(
      id,
      "Choose A or B, then X or Y.",
      "BY",
      `${FIRST[first]}${SECOND[second]}`,
      reward,
      {},
    );
  }
}

function table({ first, second }: TwoStepPolicy): string[] {
  const figures = (logits: Vector) =>
    softmax(logits)
      .map((p) => p.toFixed(4))
      .join(" | ");
  return [
    `\n| decision | first option | second option |\n|---|---|---|\n| A or B | ${figures(first)} |\n| X or Y after A | ${figures(second[0] as Vector)} |\n| X or Y after B | ${figures(second[1] as Vector)} |`,
  ];
}
