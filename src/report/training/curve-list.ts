/** All curves of a report, in page order. A run shows those that it has data for. */

import type { Axis, Point } from "../../charts/spec.ts";
import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import type { EvaluationRecord } from "../../runs/train-records.ts";
import { passInterval } from "./evaluations.ts";
import { isJudged } from "./judged/judge-of.ts";
import { judgeWinRate, labelWinRate, type MeasuredRate } from "./judged/win-rates.ts";
import { lastOf, stepPoints } from "./series.ts";

/** What rewards, on the validation set. */
const PROXY = "proxy reward";
const BY_JUDGE = "judge's mean score";

/** Shown in the subtitle of the KL curves, not as a curve. */
const ROWS = "kl/rows";

export interface Line {
  readonly label: string;
  /** Its name in metrics.jsonl; undefined for lines from evaluations. */
  readonly metric?: string;
  points(run: TrainingRunRecords): Point[];
}

export interface Curve {
  readonly section: string;
  readonly title: string;
  /** What else there is to say of it in these runs. */
  note(runs: readonly TrainingRunRecords[]): string;
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

const repetition: Line = {
  label: "validation",
  points: (run) =>
    run.evaluations.flatMap(({ step: x, repetition: y }) => (y === undefined ? [] : [{ x, y }])),
};

/** A figure of episodes in an environment, in training and on validation. */
const ofEpisodes = (name: string, label = ""): Line[] => [
  step(`episode/${name}`, label === "" ? "training" : label),
  {
    label: label === "" ? "validation" : `${label}, validation`,
    points: ({ evaluations }) =>
      evaluations.flatMap(({ step: x, episode }) => {
        const y = episode?.[name];
        return y === undefined ? [] : [{ x, y }];
      }),
  },
];

/** Metrics under one prefix, each by its own name. */
const steps = (prefix: string, ...names: string[]): Line[] =>
  names.map((name) => step(`${prefix}/${name}`, name));

/** From how many rows the estimates are, where a run compares a share of them with the reference. */
function comparedRowsNote(runs: readonly TrainingRunRecords[]): string {
  const rows = new Set(runs.map((run) => lastOf(run, ROWS)));
  const [only] = rows;
  if (rows.size > 1) return "some estimates from a share of the rows";
  return only === undefined ? "" : `estimates from ${only} rows per step`;
}

/** Against the initial policy on the same tasks, with its interval. */
const winRates: Line[] = [
  {
    label: "by the judge",
    points: ({ evaluations }) =>
      evaluations.flatMap((one) => {
        const rate = judgeWinRate(one);
        return rate ? [pointAt(one.step, rate)] : [];
      }),
  },
  {
    label: "by labels",
    points: (run) =>
      run.evaluations.flatMap((one) => {
        const rate = labelWinRate(run, one);
        return rate ? [pointAt(one.step, rate)] : [];
      }),
  },
];

function pointAt(x: number, { rate, interval }: MeasuredRate): Point {
  const [low, high] = interval ?? [];
  return { x, y: rate, low, high };
}

const share = (label: string): Axis => ({ label, range: [0, 1] });
const fromZero = (label: string, unit?: string): Axis => ({ label, unit, range: [0, undefined] });
const inNats = (label: string): Axis => ({ label, unit: "nats" });

export const CURVES: readonly Curve[] = [
  ...inSection("Reward", [
    [
      "Reward in training",
      { label: "mean reward" },
      [
        ...steps("reward", "mean", "baseline"),
        step("independent_reward", "environment's own, not learned from"),
      ],
    ],
    [
      "Pass rate on validation",
      fromZero("share, or mean reward"),
      [
        passRate,
        unlessSame(onValidation("reward_mean", "reward"), "reward_mean", "pass_rate"),
        unlessSame(onValidation("proxy_mean", PROXY), "proxy_mean", "reward_mean"),
      ],
      "95 % interval shaded",
    ],
    [
      "Win rate against the initial policy",
      share("share of tasks, ties as half"),
      winRates,
      "95 % interval shaded",
    ],
    ["Reward spread", { label: "reward" }, steps("reward", "std", "min", "max")],
    [
      "Groups without reward variance",
      share("share of groups"),
      [step("reward/zero_std_groups", "all rewards equal")],
    ],
    ["Token accuracy", share("share"), [step("token_accuracy")]],
  ]),
  ...inSection("Episodes", [
    ["Turns", fromZero("turns per episode"), ofEpisodes("turns")],
    ["Longest episode", fromZero("turns"), ofEpisodes("turns_max")],
    ["Reward per turn", { label: "reward" }, ofEpisodes("reward_per_turn")],
    [
      "Episodes cut short",
      fromZero("share of episodes"),
      [
        ...ofEpisodes("truncated", "all"),
        step("episode/out_of_turns", "out of turns"),
        step("episode/context_full", "context full"),
      ],
    ],
    ["Tool errors", fromZero("errors per episode"), ofEpisodes("tool_errors")],
  ]),
  ...inSection("Preferences", [
    ["Implicit rewards", { label: "reward" }, steps("rewards", "chosen", "rejected", "margin")],
    [
      "Preference accuracy",
      share("share of pairs"),
      [step("rewards/accuracy", "chosen above rejected")],
    ],
    ["Log-probs of the completions", inNats("log-prob"), steps("logps", "chosen", "rejected")],
  ]),
  ...inSection("Distance from the reference", [
    [
      "KL to the reference",
      { label: "KL", unit: "nats per token" },
      [...steps("kl", "k1", "k2", "k3"), exactKl],
      comparedRowsNote,
    ],
    ["KL coefficient", { label: "coefficient" }, [step("kl/coefficient")]],
    [
      "Entropy",
      fromZero("entropy", "nats per token"),
      [step("entropy", "training"), onValidation("entropy")],
    ],
    [
      "Completion length",
      fromZero("tokens"),
      [
        step("length/mean", "mean"),
        step("length/min", "shortest"),
        step("length/max", "longest"),
        onValidation("length_mean", "mean, validation"),
      ],
    ],
    [
      "Truncated completions",
      fromZero("share of completions"),
      [step("length/truncated", "training"), onValidation("truncated")],
    ],
    [
      "Most common completion",
      fromZero("share of completions"),
      [step("repeated", "training"), onValidation("repeated")],
    ],
    [
      "Repetition within a completion",
      fromZero("share of 4-grams"),
      [step("repetition", "training"), repetition],
    ],
    [
      "Clipped tokens",
      fromZero("share of tokens"),
      [step("clip/low", "below"), step("clip/high", "above")],
    ],
    ["Largest probability ratio", { label: "new to old probability" }, [step("ratio/max")]],
  ]),
  ...inSection("Judge", [
    [
      "Groups in training",
      fromZero("groups per step"),
      [
        step("judge/groups", "judged"),
        step("judge/dropped", "without a verdict"),
        step("judge/identical", "all episodes the same"),
      ],
    ],
    [
      "Judge tokens in training",
      fromZero("tokens per step"),
      [step("judge/prompt_tokens", "read"), step("judge/completion_tokens", "written")],
    ],
  ]),
  ...inSection("Constraint", [
    ["Cost", { label: "cost" }, steps("cost", "mean", "limit")],
    ["Lagrange multiplier", { label: "multiplier" }, [step("cost/lambda")]],
  ]),
  ...inSection("Optimisation", [
    ["Loss", { label: "loss" }, [step("loss")]],
    ["Gradient norm", fromZero("norm"), [step("gradient_norm")]],
    ["Learning rate", fromZero("learning rate"), [step("learning_rate")]],
    ["Value loss", { label: "loss" }, [step("value/loss")]],
    ["Explained variance of the value head", { label: "share" }, [step("value/explained")]],
    [
      "Tokens per step",
      fromZero("tokens"),
      [step("tokens", "trained on"), step("sampled_tokens", "sampled")],
    ],
  ]),
  ...inSection("Checks", [
    [
      "Recomputed and sampled log-probs",
      inNats("largest log-prob gap"),
      [step("check/logprob_gap")],
    ],
    ["Sampling distribution and policy", inNats("mean log-prob gap"), [step("check/sampling_gap")]],
    [
      "Policy and reference",
      inNats("largest log-prob gap"),
      [step("check/reference_gap")],
      comparedRowsNote,
    ],
  ]),
];

/** What a judged run is read by: together, and before all others. */
const OVERVIEW: readonly string[] = [
  ...["Reward in training", "Pass rate on validation", "Win rate against the initial policy"],
  ...["KL to the reference", "Entropy", "Completion length"],
];

export const OVERVIEW_SECTION = "Overview";

/** Of judged runs the overview comes first, all of it over the same steps. */
export function curvesOf(runs: readonly TrainingRunRecords[]): Curve[] {
  const all = [...CURVES, ...otherCurves(runs)];
  if (!runs.some(isJudged)) return all;
  const overview = OVERVIEW.flatMap((title) => all.filter((curve) => curve.title === title));
  const rest = all.filter((curve) => !overview.includes(curve));
  const ofJudge = (curve: Curve): Curve => ({
    ...{ ...curve, section: OVERVIEW_SECTION },
    lines: curve.lines.map((line) => (line.label === PROXY ? { ...line, label: BY_JUDGE } : line)),
  });
  return [...overview.map(ofJudge), ...rest];
}

type Row = [title: string, y: Axis, lines: Line[], note?: string | Curve["note"]];

function inSection(section: string, rows: readonly Row[]): Curve[] {
  return rows.map(([title, y, lines, note = ""]) => ({
    ...{ section, title, y, lines },
    note: typeof note === "string" ? () => note : note,
  }));
}

/** Metrics without a curve above: rewards by scorer in one chart, the others in one chart each. */
function otherCurves(runs: readonly TrainingRunRecords[]): Curve[] {
  const shown = new Set(CURVES.flatMap(({ lines }) => lines.map(({ metric }) => metric)));
  shown.add(ROWS);
  const names = new Set(
    runs.flatMap(({ steps }) => steps.flatMap(({ values }) => Object.keys(values))),
  );
  const others = [...names].filter((name) => !shown.has(name)).sort();
  const below = (prefix: string) =>
    others.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const rewards = below("reward/").map((name) => step(`reward/${name}`, name));
  const counted = below("episode/").map(
    (name): Row => [name, { label: "mean per episode" }, ofEpisodes(name)],
  );
  const rest = others.filter((name) => !/^(reward|episode)\//.test(name));
  return [
    ...inSection("Reward", [["Reward by scorer", { label: "mean reward" }, rewards]]),
    ...inSection("Episodes", counted),
    ...inSection(
      "Other metrics",
      rest.map((name) => [name, { label: name }, [step(name)]]),
    ),
  ];
}
