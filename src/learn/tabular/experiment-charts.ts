/** Charts of the tabular experiments. */

import { type ChartSpec, chartFiles } from "../../charts/index.ts";
import { ARM_NAMES, type BanditStep } from "./bandit.ts";
import type { PressurePoint } from "./goodhart.ts";
import type { KlPoint } from "./kl-penalty.ts";
import { softmax, type Vector } from "./softmax.ts";
import type { TwoStepStep } from "./two-step.ts";

type Files = Promise<Record<string, string | Uint8Array>>;

const PROBABILITY = { label: "probability", range: [0, 1] } as const;
const STEPS = { label: "step", unit: "updates", integer: true } as const;

export async function banditCharts(log: readonly BanditStep[]): Files {
  if (log.length === 0) return {};
  const arms = ARM_NAMES.map((arm, i) => ({
    label: `arm ${arm}`,
    points: [
      { x: 0, y: log[0]?.probabilities_before[i] },
      ...thinned(log).map(({ step, logits_after: logits }) => ({ x: step, y: softmax(logits)[i] })),
    ],
  }));
  return {
    ...(await chartFiles("probabilities", {
      title: "Probabilities of the arms",
      x: STEPS,
      y: PROBABILITY,
      series: arms,
    })),
    ...(await chartFiles("reward", {
      title: "Reward while learning",
      x: STEPS,
      y: { label: "mean reward so far", range: [0, 1] },
      series: [{ label: "running mean of the reward", points: thinned(runningMean(log)) }],
    })),
  };
}

export async function twoStepCharts(log: readonly TwoStepStep[]): Files {
  if (log.length === 0) return {};
  const steps = thinned(log);
  const series = (label: string, logits: (step: TwoStepStep) => Vector) => ({
    label,
    points: steps.map((step) => ({ x: step.step, y: softmax(logits(step))[1] as number })),
  });
  return chartFiles("probabilities", {
    title: "Two decisions, one reward",
    x: STEPS,
    y: PROBABILITY,
    series: [
      series("first: B over A", ({ policy_after: p }) => p.first),
      series("second: Y over X after A", ({ policy_after: p }) => p.second[0] as Vector),
      series("second: Y over X after B", ({ policy_after: p }) => p.second[1] as Vector),
    ],
  });
}

export async function klCharts(points: readonly KlPoint[]): Files {
  return chartFiles("kl_tradeoff", {
    title: "A smaller KL penalty: more reward, more KL divergence",
    subtitle: "Each point is one KL coefficient, labelled with its β.",
    x: { label: "KL(π ‖ π_ref)", unit: "nats" },
    y: { label: "expected reward", range: [0, 1] },
    series: [
      {
        label: "π*(a) ∝ π_ref(a) · exp(r(a)/β)",
        points: points.map((p) => ({ x: p.kl, y: p.expected_reward, label: `${p.beta}` })),
      },
    ],
  });
}

export async function goodhartCharts(
  naive: readonly PressurePoint[],
  patched: readonly PressurePoint[],
): Files {
  const series = (
    label: string,
    points: readonly PressurePoint[],
    key: "proxy_reward" | "true_reward",
  ) => ({
    label,
    points: points.map((point) => ({ x: point.pressure, y: point[key] })),
  });
  const chart = (title: string, points: readonly PressurePoint[]): ChartSpec => ({
    title,
    x: { label: "updates", integer: true },
    y: { label: "mean reward", range: [0, 1] },
    series: [
      series("proxy reward (optimised)", points, "proxy_reward"),
      series("strict reward (intended)", points, "true_reward"),
    ],
  });
  return {
    ...(await chartFiles("goodhart", chart("Goodhart's law: the naive verifier", naive))),
    ...(await chartFiles(
      "goodhart_patched",
      chart("The patched verifier: both rewards coincide", patched),
    )),
  };
}

function runningMean(log: readonly BanditStep[]): { x: number; y: number }[] {
  let sum = 0;
  return log.map(({ step, reward }, i) => {
    sum += reward;
    return { x: step, y: sum / (i + 1) };
  });
}

/** At most `most` points: a chart has fewer pixels than a long run has steps. */
function thinned<T>(items: readonly T[], most = 400): T[] {
  if (items.length <= most) return [...items];
  return Array.from(
    { length: most },
    (_, i) => items[Math.round((i * (items.length - 1)) / (most - 1))] as T,
  );
}
