/** `lockedroom judge score`: the episodes of a rollout by a judge, alone or beside another's. */

import { Option } from "commander";
import { usageError } from "../core/errors.ts";
import { type GroupJudge, type GroupVerdict, isDropped } from "../core/judge.ts";
import { printComparison, printJudgedRollout } from "./judge-score-text.ts";
import { onInterrupt } from "./on-interrupt.ts";
import { addJudgeOptions, type JudgeFlags, openJudgeHere } from "./open-judge.ts";
import { addRunOptions, type RunFlags } from "./options.ts";
import { type TokenProgress, tokenProgress } from "./progress.ts";
import type { Subcommand } from "./subcommand.ts";
import { withEnvironmentOf } from "./trajectory-options.ts";

interface Flags extends RunFlags, JudgeFlags {
  readonly trajectories: string;
  readonly against?: string;
  readonly env?: string;
}

export const scoreByJudge: Subcommand = {
  summary: "judge the episodes of a rollout, or compare two rollouts",
  description:
    "Judges the episodes of a rollout, those of each task in one group, and writes them with the judge's scores as rewards. With --against, judges the episodes of two rollouts together and writes a run of each, which the gate compares.",
  help: `A judge's scores are relative within a group, so that scores of different
judgings cannot be compared. --against puts the attempts of both rollouts at a
task into one group, in an order drawn for each task, and writes the folders
baseline (--against) and candidate (--trajectories): runs with the outcome codes
preferred, tied and not_preferred. Nothing is promoted by them without an audit
of the judge: gate --judge-audit.

Without --against the output is a rollout: selection-demo picks the best of N by
the judge's scores, export writes them for other libraries. The environment's
own reward is kept as the metric independent_reward, and the judge's explanation
in the logs. A group without a verdict is left out, counted and listed in
dropped.jsonl; it is never scored 0.

Answers are kept in a cache: the same command again makes no request.

Examples:
  lockedroom judge score --trajectories runs/replies --judge embedded \\
    --outdir runs/replies-judged
  lockedroom judge score --trajectories runs/new --against runs/old \\
    --judge openai:gpt-5-mini --rubric rubric.md --outdir runs/judged`,
  define(command) {
    command
      .requiredOption("--trajectories <folder>", "rollout to judge, made by rollout --env")
      .option("--against <folder>", "rollout to compare it with: the baseline")
      .addOption(
        new Option(
          "--env <environment>",
          "with --against: their environment (default: the one that the rollout names)",
        ),
      )
      .action((_name: string, flags: Flags) => score(flags));
    addJudgeOptions(command);
    addRunOptions(command);
  },
};

async function score(flags: Flags): Promise<void> {
  const { judge: named, against, env } = flags;
  if (named === undefined)
    throw usageError("judge score needs --judge", "Use embedded, or openai:MODEL.");
  if (env !== undefined && against === undefined)
    throw usageError("--env needs --against", "Leave it out: a rollout is judged as it is.");
  const judge = await openJudgeHere({ ...flags, judge: named });
  const progress = tokenProgress("Judging", flags.quiet);
  const listener = onInterrupt(
    progress.stop,
    flags.cache
      ? "The judge's answers so far are in the cache: run the same command again."
      : "Nothing was written: run the same command again.",
  );
  try {
    if (against === undefined) await alone(flags, judge, progress);
    else await together({ ...flags, against }, judge, progress);
  } finally {
    progress.stop();
    process.removeListener("SIGINT", listener);
    await judge.close();
  }
}

/** What both ways have in common. */
function asked(flags: Flags, judge: GroupJudge, progress: TokenProgress) {
  const { outdir, force, judgePrice: price, judgeDroppedLimit: droppedLimit } = flags;
  return {
    ...{ judge, outdir, force, droppedLimit },
    prices: price && { in: price.prompt, out: price.completion },
    onStart: (tasks: number) => progress.start(tasks, 0),
    onTask: (verdict: GroupVerdict | undefined) => {
      const dropped = verdict && isDropped(verdict) ? "one without a verdict" : undefined;
      progress.add(verdict?.tokens.completion_tokens ?? 0, dropped);
    },
  };
}

async function alone(flags: Flags, judge: GroupJudge, progress: TokenProgress): Promise<void> {
  const { scoreTrajectories } = await import("../judge/score-trajectories.ts");
  const { trajectories } = flags;
  const judged = await scoreTrajectories({ ...asked(flags, judge, progress), trajectories });
  progress.stop();
  if (!flags.quiet) printJudgedRollout(judged);
}

async function together(
  flags: Flags & { readonly against: string },
  judge: GroupJudge,
  progress: TokenProgress,
): Promise<void> {
  const { judgeTogether } = await import("../judge/judge-together.ts");
  const { trajectories, against, env } = flags;
  const found = await withEnvironmentOf({ trajectories, env }, (environment) =>
    judgeTogether({
      ...asked(flags, judge, progress),
      ...{ environment, baseline: against, candidate: trajectories },
    }),
  );
  progress.stop();
  if (!flags.quiet) printComparison(found);
}
