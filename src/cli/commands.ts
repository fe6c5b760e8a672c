/** The commands: one line each for the help, and where each one lives. */

import type { Command } from "commander";

export interface CommandModule {
  /** Adds options and the action; `exit` sets the process's exit code. */
  define(command: Command, exit: (code: number) => void): Command;
}

interface Entry {
  readonly summary: string;
  load(): Promise<CommandModule>;
}

export const COMMANDS = {
  tour: {
    summary: "a guided first look, on embedded data",
    load: () => import("./commands/tour.ts"),
  },
  init: {
    summary: "make a workspace of the mastery track",
    load: () => import("./commands/init.ts"),
  },
  quiz: {
    summary: "a level's checklist as questions",
    load: () => import("./commands/quiz.ts"),
  },
  level: {
    summary: "a level of the track: what to do, and what next",
    load: () => import("./commands/level.ts"),
  },
  check: {
    summary: "judge a level by its evidence",
    load: () => import("./commands/check.ts"),
  },
  manual: {
    summary: "the concepts, in the browser",
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
  train: {
    summary: "Loop C: train a policy and write a checkpoint",
    load: () => import("./commands/train.ts"),
  },
  sweep: {
    summary: "train for each value of a setting, draw the trade-off",
    load: () => import("./commands/sweep.ts"),
  },
  rollout: {
    summary: "sample completions from a policy",
    load: () => import("./commands/rollout.ts"),
  },
  pairs: {
    summary: "preference pairs and labels out of scored samples",
    load: () => import("./commands/pairs.ts"),
  },
  runs: {
    summary: "list the runs below a folder, with state and figures",
    load: () => import("./commands/runs.ts"),
  },
  report: {
    summary: "one page about training runs, to read offline",
    load: () => import("./commands/report.ts"),
  },
  serve: {
    summary: "a policy as an OpenAI-compatible endpoint",
    load: () => import("./commands/serve.ts"),
  },
  eval: {
    summary: "Loop A: score completions and write a run",
    load: () => import("./commands/eval.ts"),
  },
  "inspect-run": {
    summary: "see a run's outcomes, grouped by code",
    load: () => import("./commands/inspect-run.ts"),
  },
  "validate-scorer": {
    summary: "check a scorer against golden rows and probes",
    load: () => import("./commands/validate-scorer.ts"),
  },
  "selection-demo": {
    summary: "Loop B: pick the best of N samples and write a run",
    load: () => import("./commands/selection-demo.ts"),
  },
  "bandit-train": {
    summary: "Loop C, microscope: REINFORCE on four arms",
    load: () => import("./commands/bandit-train.ts"),
  },
  "two-step-mdp": {
    summary: "Loop C, microscope: credit for two decisions",
    load: () => import("./commands/two-step-mdp.ts"),
  },
  "kl-tradeoff-demo": {
    summary: "reward against drift as the KL leash loosens",
    load: () => import("./commands/kl-tradeoff-demo.ts"),
  },
  "kl-choice": {
    summary: "what a leash makes of a tiny table of candidates",
    load: () => import("./commands/kl-choice.ts"),
  },
  "token-inspect": {
    summary: "see a text as tokens, and what the verifier says of it",
    load: () => import("./commands/token-inspect.ts"),
  },
  "goodhart-demo": {
    summary: "proxy up, truth down: an optimiser finds the loopholes",
    load: () => import("./commands/goodhart-demo.ts"),
  },
  policy: {
    summary: "look into a checkpoint, export it, merge an adapter",
    load: () => import("./commands/policy.ts"),
  },
  gate: {
    summary: "decide whether a candidate run may replace a baseline",
    load: () => import("./commands/gate.ts"),
  },
  plan: {
    summary: "the 120-day plan: exits, evidence, week and streak",
    load: () => import("./commands/plan.ts"),
  },
  scoreboard: {
    summary: "the weekly scoreboard, its figures filled from runs",
    load: () => import("./commands/scoreboard.ts"),
  },
} satisfies Record<string, Entry>;
