/** The commands, grouped by what people want to do: a line of help each, and where each one lives. */

import type { Command } from "commander";

export interface CommandModule {
  /** Adds options and the action; `exit` sets the process's exit code. */
  define(command: Command, exit: (code: number) => void): Command;
}

export interface Entry {
  readonly summary: string;
  load(): Promise<CommandModule>;
}

/** By the heading under which the help lists them. */
export const GROUPS = {
  "Start here:": {
    tour: {
      summary: "a guided first look at everything below, in a few minutes",
      load: () => import("./commands/tour.ts"),
    },
  },
  "Measure:": {
    eval: {
      summary: "Loop A: score one completion per example, write a run",
      load: () => import("./commands/eval.ts"),
    },
    "inspect-run": {
      summary: "show a run's rows, grouped by outcome",
      load: () => import("./commands/inspect-run.ts"),
    },
    "validate-scorer": {
      summary: "test a scorer with golden rows and edge cases",
      load: () => import("./commands/validate-scorer.ts"),
    },
    gate: {
      summary: "decide whether a candidate run may replace a baseline",
      load: () => import("./commands/gate.ts"),
    },
    runs: {
      summary: "list the runs below a folder, with state and figures",
      load: () => import("./commands/runs.ts"),
    },
    "token-inspect": {
      summary: "show a text as tokens, and how it scores",
      load: () => import("./commands/token-inspect.ts"),
    },
  },
  "Select:": {
    rollout: {
      summary: "sample completions from a policy",
      load: () => import("./commands/rollout.ts"),
    },
    "selection-demo": {
      summary: "Loop B: pick the best of N samples, write a run",
      load: () => import("./commands/selection-demo.ts"),
    },
    pairs: {
      summary: "make preference pairs and labels from scored samples",
      load: () => import("./commands/pairs.ts"),
    },
  },
  "Learn:": {
    train: {
      summary: "Loop C: train a policy, write a checkpoint",
      load: () => import("./commands/train.ts"),
    },
    sweep: {
      summary: "train once for each value of a setting, chart the results",
      load: () => import("./commands/sweep.ts"),
    },
    report: {
      summary: "write one HTML page about training runs",
      load: () => import("./commands/report.ts"),
    },
    policy: {
      summary: "inspect or export a checkpoint, merge an adapter",
      load: () => import("./commands/policy.ts"),
    },
    "bandit-train": {
      summary: "tabular experiment: REINFORCE on a four-armed bandit",
      load: () => import("./commands/bandit-train.ts"),
    },
    "two-step-mdp": {
      summary: "tabular experiment: credit assignment over two steps",
      load: () => import("./commands/two-step-mdp.ts"),
    },
    "kl-tradeoff-demo": {
      summary: "tabular experiment: reward against KL from the reference",
      load: () => import("./commands/kl-tradeoff-demo.ts"),
    },
    "kl-choice": {
      summary: "tabular experiment: which candidate a KL penalty favours",
      load: () => import("./commands/kl-choice.ts"),
    },
    "goodhart-demo": {
      summary: "tabular experiment: proxy reward up, true reward down",
      load: () => import("./commands/goodhart-demo.ts"),
    },
  },
  "Serve:": {
    serve: {
      summary: "serve a policy as an OpenAI-compatible endpoint",
      load: () => import("./commands/serve.ts"),
    },
  },
  "Learn by the track:": {
    init: {
      summary: "create a workspace with data, a scorer and assignments",
      load: () => import("./commands/init.ts"),
    },
    level: {
      summary: "show a level: what to do, and what comes next",
      load: () => import("./commands/level.ts"),
    },
    check: {
      summary: "check a level by its evidence",
      load: () => import("./commands/check.ts"),
    },
    quiz: {
      summary: "answer a level's checklist as questions",
      load: () => import("./commands/quiz.ts"),
    },
    plan: {
      summary: "show the 120-day plan: exits, evidence, week and streak",
      load: () => import("./commands/plan.ts"),
    },
    scoreboard: {
      summary: "keep the weekly scoreboard, filled in from runs",
      load: () => import("./commands/scoreboard.ts"),
    },
    manual: {
      summary: "open the manual in the browser",
      load: () => import("./commands/manual.ts"),
    },
    run: {
      summary: "run a TypeScript file of yours",
      load: () => import("./commands/run.ts"),
    },
    test: {
      summary: "run your TypeScript tests",
      load: () => import("./commands/test.ts"),
    },
  },
} satisfies Record<string, Record<string, Entry>>;

export const COMMANDS: Readonly<Record<string, Entry>> = Object.assign(
  {},
  ...Object.values(GROUPS),
);
