/** The KL penalty as a run: a sweep of the coefficient, with the closed form checked by gradient ascent. */

import type { FolderOptions } from "../../runs/run-folder.ts";
import type { ResultRow } from "../../runs/schemas.ts";
import type { FinishedRun } from "../../runs/scored-run.ts";
import { type Experiment, writeExperiment } from "./experiment.ts";
import { klCharts } from "./experiment-charts.ts";
import {
  gradientAscent,
  KL_PENALTY,
  type KlPoint,
  klPenaltyOptimum,
  klPoint,
} from "./kl-penalty.ts";
import { softmax, type Vector } from "./softmax.ts";

export interface KlTradeoffRunOptions extends FolderOptions {
  readonly outdir: string;
  /** Also write kl_tradeoff.svg and .png. */
  readonly plot?: boolean | undefined;
}

/** Eight replies: the one with the highest reward has the lowest probability in the reference. */
const REWARDS: Vector = [0.1, 0.2, 0.3, 0.35, 0.5, 0.6, 0.8, 1];
const REFERENCE: Vector = softmax([2, 2, 1.5, 1, 0.5, 0, -1, -3]);
const BETAS: Vector = [10, 3, 1, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03];
/** Of a probability; ascent stops where the objective no longer grows in float64. */
const TOLERANCE = 1e-4;

/** Sweeps the KL coefficient and writes a run. */
export async function runKlTradeoff(options: KlTradeoffRunOptions): Promise<FinishedRun> {
  return writeExperiment(options.outdir, () => klExperiment(options), options);
}

/** The numbers of a run in a sentence, from its metrics. */
export function klSentence(metrics: Readonly<Record<string, unknown>>): string {
  const points = metrics.points as readonly KlPoint[];
  const [tight, loose] = [points[0], points.at(-1)] as [KlPoint, KlPoint];
  const worst = Number(metrics.largest_gap_to_gradient_ascent);
  return `from β = ${tight.beta} to ${loose.beta} the expected reward rises from ${tight.expected_reward.toFixed(3)} to ${loose.expected_reward.toFixed(3)} and the KL divergence from ${tight.kl.toFixed(3)} to ${loose.kl.toFixed(3)} nats; gradient ascent ends within ${worst.toExponential(0)} of the closed form`;
}

async function klExperiment(options: KlTradeoffRunOptions): Promise<Experiment> {
  const pointsOf = (optimise: typeof klPenaltyOptimum) =>
    BETAS.map((beta) => klPoint(REWARDS, REFERENCE, beta, optimise(REWARDS, REFERENCE, beta)));
  const [points, ascended] = [pointsOf(klPenaltyOptimum), pointsOf(gradientAscent)];
  const gaps = points.map(({ policy }, i) => distance(policy, (ascended[i] as KlPoint).policy));
  const worst = Math.max(...gaps);
  return {
    command: "kl-tradeoff-demo",
    reward: KL_PENALTY,
    learning: {
      algorithm: "closed form",
      betas: [...BETAS],
      rewards: [...REWARDS],
      reference: [...REFERENCE],
    },
    parameters: points.map(({ policy }) => policy),
    rows: points.map((point, i) => row(point, ascended[i] as KlPoint, gaps[i] as number)),
    metrics: {
      largest_gap_to_gradient_ascent: worst,
      points: points.map(({ policy: _, ...figures }) => figures),
    },
    title: "KL penalty: reward against KL divergence",
    happened: klSentence({ points, largest_gap_to_gradient_ascent: worst }),
    remarks: [
      table(points),
      ...(options.plot ? ["![reward against KL divergence](kl_tradeoff.svg)"] : []),
    ],
    files: {
      "kl_tradeoff.csv": csv(points),
      ...(options.plot ? await klCharts(points) : {}),
    },
  };
}

const columns = (p: KlPoint) => [p.expected_reward, p.kl, p.entropy, p.objective];

function table(points: readonly KlPoint[]): string {
  const rows = points.map(
    (p) => `| ${[p.beta, ...columns(p).map((x) => x.toFixed(4))].join(" | ")} |`,
  );
  return `| β | E[r] | KL | entropy | objective |\n|---|---|---|---|---|\n${rows.join("\n")}`;
}

function csv(points: readonly KlPoint[]): string {
  const lines = points.map((p) => [p.beta, ...columns(p)].join(","));
  return `beta,expected_reward,kl,entropy,objective\n${lines.join("\n")}\n`;
}

/** A coefficient passes when gradient ascent agrees with the closed form. */
function row({ beta, policy, ...figures }: KlPoint, ascent: KlPoint, gap: number): ResultRow {
  const agrees = gap <= TOLERANCE;
  return {
    id: `beta-${beta}`,
    prompt: `Maximise E[r] − ${beta} · KL(π ‖ π_ref).`,
    expected_answer: brief(figures),
    completion: brief(ascent),
    reward: agrees ? 1 : 0,
    outcome_code: agrees ? "ascent_agrees" : "ascent_differs",
    details: { ...figures, policy, gap },
  };
}

function brief({ expected_reward, kl }: Pick<KlPoint, "expected_reward" | "kl">): string {
  return `E[r] ${expected_reward.toFixed(4)}, KL ${kl.toFixed(4)}`;
}

function distance(a: Vector, b: Vector): number {
  return Math.max(...a.map((x, i) => Math.abs(x - (b[i] as number))));
}
