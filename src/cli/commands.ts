/** The commands with a line of help each; `eval` is in commands/eval.ts. */

import type { Command } from "commander";

/** What the file of a command exports. */
export interface CommandModule {
  /** Printed after the options; it may depend on the words that follow the command. */
  readonly help: string | ((words: readonly string[]) => string);
  /** Adds options and the action; `exit` sets the process's exit code. */
  define(command: Command, exit: (code: number) => void, words: readonly string[]): void;
}

/** By the heading under which the help lists them: what people want to do. */
export const GROUPS = {
  "Start here:": {
    tour: "a guided first look at everything below, in a few minutes",
  },
  "Measure:": {
    eval: "Loop A: score completions of each example, write a run",
    "inspect-run": "show a run's rows, grouped by outcome",
    "validate-scorer": "test a scorer with golden rows and edge cases",
    graders: "check or run a grader of the OpenAI and Azure formats",
    harden: "attack a scorer, and measure how much its golden rows notice",
    "judge-audit": "measure what a judge is worth, and which faults it has",
    gate: "decide whether a candidate run may replace a baseline",
    compare: "compare several runs with a baseline, as a table",
    matrix: "run every prompt with every model, and compare them",
    review: "label pairs of answers blind, and compare a judge with you",
    verify: "make a run again and compare: scores, samples, training",
    seal: "sign a run, so that others can tell whose it is",
    sabotage: "cheat on purpose, and see which check catches it",
    env: "list, play and check environments: tasks of several turns",
    judge: "score attempts, serve the embedded judge, estimate its cost",
    runs: "list the runs below a folder, with state and figures",
    "token-inspect": "show a text as tokens, and how it scores",
  },
  "Select:": {
    rollout: "sample completions from a policy",
    export: "write trajectories for ART, verifiers, OpenEnv, ATIF or TRL",
    import: "read trajectories of these libraries",
    "selection-demo": "Loop B: pick the best of N samples, write a run",
    pairs: "make preference pairs and labels from scored samples",
    tune: "write, check and read training files for Azure and OpenAI",
  },
  "Learn:": {
    train: "Loop C: train a policy, write a checkpoint",
    sweep: "train once for each value of a setting, chart the results",
    report: "write one HTML page about runs or a verdict of the gate",
    policy: "inspect or export a checkpoint, merge an adapter",
    "bandit-train": "tabular experiment: REINFORCE on a four-armed bandit",
    "two-step-mdp": "tabular experiment: credit assignment over two steps",
    "kl-tradeoff-demo": "tabular experiment: reward against KL from the reference",
    "kl-choice": "tabular experiment: which candidate a KL penalty favours",
    "goodhart-demo": "tabular experiment: proxy reward up, true reward down",
  },
  "Serve:": {
    serve: "serve a policy (OpenAI-compatible) or a scorer (endpoint grader)",
    promote: "let an alias, such as production, name another policy",
    rollback: "return an alias to the policy that it named before",
    alias: "list policy aliases, or show the history of one",
  },
  "Learn by the track:": {
    init: "create a workspace with data, a scorer and assignments",
    level: "show a level: what to do, and what comes next",
    check: "check a level by its evidence",
    quiz: "answer a level's checklist as questions",
    drill: "read pairs of runs, and name what is behind each",
    plan: "show the 120-day plan: exits, evidence, week and streak",
    scoreboard: "keep the weekly scoreboard, filled in from runs",
    diagnose: "say from the curves of a run what is wrong with it",
    manual: "open the manual in the browser",
    run: "run a TypeScript file of yours",
    test: "run your TypeScript tests",
  },
};

export const COMMANDS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...Object.values(GROUPS),
);

export async function loadCommand(name: string): Promise<CommandModule> {
  return import(`./commands/${name}.ts`);
}
