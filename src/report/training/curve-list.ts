/** All curves of a report, in page order. A run shows those that it has data for. */

import type { Axis, Point } from "../../charts/spec.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import type { EvaluationRecord } from "../../runs/train-records.ts";
import { passInterval } from "./evaluations.ts";
import { stepPoints } from "./series.ts";

export interface Line {
  readonly label: string;
  /** Its name in metrics.jsonl; undefined for lines from evaluations. */
  readonly metric?: string;
  points(run: TrainingRunRecords): Point[];
}

export interface Curve {
  readonly section: string;
  readonly title: string;
  readonly note?: string;
  readonly y: Axis;
  readonly lines: readonly Line[];
}

/** A metric of metrics.jsonl, by its name there. */
const step = (metric: string, label = metric): Line => ({
  label,
  metric,
  points: (run) => stepPoints(run, metric),
});

type Measure = "reward_mean" | "proxy_mean" | "entropy" | "length_mean" | "truncated" | "repeated";

const evaluated = (read: (one: EvaluationRecord) => Omit<Point, "x">, label: string): Line => ({
  label,
  points: ({ evaluations }) => evaluations.map((one) => ({ x: one.step, ...read(one) })),
});
const onValidation = (measure: Measure, label = "validation") =>
  evaluated((one) => ({ y: one[measure] }), label);

const passRate = evaluated((one) => {
  const [low, high] = passInterval(one) ?? [];
  return { y: one.pass_rate, low, high };
}, "pass rate");

/** Leaves out a line that repeats another. */
const unlessSame = (line: Line, a: Measure, b: "reward_mean" | "pass_rate"): Line => ({
  label: line.label,
  points: (run) => (run.evaluations.every((one) => one[a] === one[b]) ? [] : line.points(run)),
});
const exactKl: Line = {
  label: "exact, validation",
  points: (run) =>
    run.evaluations.flatMap(({ step: x, kl_exact: y }) => (y === null ? [] : [{ x, y }])),
};

const SHARE: readonly [number, number] = [0, 1];

export const CURVES: readonly Curve[] = [
  ...inSection("Reward", [
    [
      "Reward in training",
      { label: "mean reward" },
      [step("reward/mean", "mean"), step("reward/baseline", "baseline")],
    ],
    [
      "Pass rate on validation",
      { label: "share, or mean reward", range: [0, undefined] },
      [
        passRate,
        unlessSame(onValidation("reward_mean", "reward"), "reward_mean", "pass_rate"),
        unlessSame(onValidation("proxy_mean", "proxy reward"), "proxy_mean", "reward_mean"),
      ],
      "95 % interval shaded",
    ],
    [
      "Reward spread",
      { label: "reward" },
      ["std", "min", "max"].map((name) => step(`reward/${name}`, name)),
    ],
    [
      "Groups without reward variance",
      { label: "share of groups", range: SHARE },
      [step("reward/zero_std_groups", "all rewards equal")],
    ],
    ["Token accuracy", { label: "share", range: SHARE }, [step("token_accuracy")]],
  ]),
  ...inSection("Preferences", [
    [
      "Implicit rewards",
      { label: "reward" },
      ["chosen", "rejected", "margin"].map((name) => step(`rewards/${name}`, name)),
    ],
    [
      "Preference accuracy",
      { label: "share of pairs", range: SHARE },
      [step("rewards/accuracy", "chosen above rejected")],
    ],
    [
      "Log-probs of the completions",
      { label: "log-prob", unit: "nats" },
      ["chosen", "rejected"].map((name) => step(`logps/${name}`, name)),
    ],
  ]),
  ...inSection("Distance from the reference", [
    [
      "KL to the reference",
      { label: "KL", unit: "nats per token" },
      [...["k1", "k2", "k3"].map((name) => step(`kl/${name}`, name)), exactKl],
    ],
    ["KL coefficient", { label: "coefficient" }, [step("kl/coefficient")]],
    [
      "Entropy",
      { label: "entropy", unit: "nats per token", range: [0, undefined] },
      [step("entropy", "training"), onValidation("entropy")],
    ],
    [
      "Completion length",
      { label: "tokens", range: [0, undefined] },
      [
        step("length/mean", "mean"),
        step("length/min", "shortest"),
        step("length/max", "longest"),
        onValidation("length_mean", "mean, validation"),
      ],
    ],
    [
      "Truncated completions",
      { label: "share of completions", range: [0, undefined] },
      [step("length/truncated", "training"), onValidation("truncated")],
    ],
    [
      "Most common completion",
      { label: "share of completions", range: [0, undefined] },
      [step("repeated", "training"), onValidation("repeated")],
    ],
    [
      "Clipped tokens",
      { label: "share of tokens", range: [0, undefined] },
      [step("clip/low", "below"), step("clip/high", "above")],
    ],
    ["Largest probability ratio", { label: "new to old probability" }, [step("ratio/max")]],
  ]),
  ...inSection("Constraint", [
    ["Cost", { label: "cost" }, [step("cost/mean", "mean"), step("cost/limit", "limit")]],
    ["Lagrange multiplier", { label: "multiplier" }, [step("cost/lambda")]],
  ]),
  ...inSection("Optimisation", [
    ["Loss", { label: "loss" }, [step("loss")]],
    ["Gradient norm", { label: "norm", range: [0, undefined] }, [step("gradient_norm")]],
    ["Learning rate", { label: "learning rate", range: [0, undefined] }, [step("learning_rate")]],
    ["Value loss", { label: "loss" }, [step("value/loss")]],
    ["Explained variance of the value head", { label: "share" }, [step("value/explained")]],
    [
      "Tokens per step",
      { label: "tokens", range: [0, undefined] },
      [step("tokens", "trained on"), step("sampled_tokens", "sampled")],
    ],
  ]),
  ...inSection("Checks", [
    [
      "Recomputed and sampled log-probs",
      { label: "largest log-prob gap", unit: "nats" },
      [step("check/logprob_gap")],
    ],
    [
      "Sampling distribution and policy",
      { label: "mean log-prob gap", unit: "nats" },
      [step("check/sampling_gap")],
    ],
    [
      "Policy and reference",
      { label: "largest log-prob gap", unit: "nats" },
      [step("check/reference_gap")],
    ],
  ]),
];

type Row = [title: string, y: Axis, lines: Line[], note?: string];

function inSection(section: string, rows: readonly Row[]): Curve[] {
  return rows.map(([title, y, lines, note]) => ({
    ...{ section, title, y, lines },
    ...(note === undefined ? {} : { note }),
  }));
}

/** Metrics without a curve above: rewards by scorer in one chart, the others in one chart each. */
export function otherCurves(runs: readonly TrainingRunRecords[]): Curve[] {
  const shown = new Set(CURVES.flatMap(({ lines }) => lines.map(({ metric }) => metric)));
  const names = new Set(
    runs.flatMap(({ steps }) => steps.flatMap(({ values }) => Object.keys(values))),
  );
  const others = [...names].filter((name) => !shown.has(name)).sort();
  const isReward = (name: string) => name.startsWith("reward/");
  const rewards = others.filter(isReward).map((name) => step(name, name.slice("reward/".length)));
  return [
    ...inSection("Reward", [["Reward by scorer", { label: "mean reward" }, rewards]]),
    ...inSection(
      "Other metrics",
      others.filter((name) => !isReward(name)).map((name) => [name, { label: name }, [step(name)]]),
    ),
  ];
}
