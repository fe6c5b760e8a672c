/** What a run with a judge, or with labels for validation alone, refuses before it begins. */

import type { PlayableEnvironment } from "../../core/environment.ts";
import { dataError, usageError } from "../../core/errors.ts";
import type { Algorithm } from "../algorithm.ts";
import { isLabelled, playableOf } from "../environment-of.ts";
import type { TrainOptions } from "../options.ts";
import type { Examples } from "../sources/examples.ts";

/** A judge compares the episodes of a task, and nothing else rewards beside it. */
export function requireJudgeable(options: TrainOptions, algorithm: Algorithm, group: number): void {
  if (!options.judge) return;
  const { name, needs } = algorithm;
  if (needs === "passing samples") {
    throw usageError(
      `${name} keeps samples above a threshold of the reward, and a judge's scores are relative: the best of a bad group may have 1`,
      "Use grpo, rloo, reinforce or ppo with --judge.",
    );
  }
  if (needs !== "rollouts") {
    throw usageError(
      `${name} does not sample, so that there is nothing for a judge to compare`,
      "Leave out --judge, or use grpo, rloo, reinforce or ppo.",
    );
  }
  if ((options.rewards ?? []).length > 0) {
    throw usageError(
      "a judge and a scorer were both given for the reward",
      "Leave out one of --judge and --scorer. A scorer may validate: --validation-scorer.",
    );
  }
  if (group < 2) {
    throw usageError(
      "a judge compares the completions of a prompt, and rollouts.group is 1",
      "Give --set rollouts.group=4 or more.",
    );
  }
  if (options.holdout !== undefined && !isLabelled(options)) {
    throw usageError(
      "the holdout set needs labels: a judge alone says only what is better than the initial policy",
      "Leave out --holdout, or give --validation-env or --validation-scorer.",
    );
  }
}

/** Labels of other tasks would say nothing about this run. */
export function requireValidationEnvironment(options: TrainOptions): void {
  const { validationEnvironment: other } = options;
  if (!other || playableOf(options)) return;
  throw usageError(
    "--validation-env is the labelled twin of an environment, and there is no --env",
    "Give --env as well, or validate with --validation-scorer.",
  );
}

/** Both environments have these validation tasks, by id and prompt. */
export function requireSameTasks(own: Examples, labelled: Examples): void {
  const [longer, shorter] =
    own.list.length >= labelled.list.length ? [own, labelled] : [labelled, own];
  const at = longer.list.findIndex(({ id, prompt }, i) => {
    const other = shorter.list[i];
    return other?.id !== id || other.prompt !== prompt;
  });
  if (at < 0) return;
  throw dataError(
    `${own.name} and ${labelled.name} are not the same: task ${at + 1}, ${longer.list[at]?.id} of ${longer.name}, is another or missing there`,
    "Choose a --validation-env with the same tasks: the same ids and prompts in the same order.",
  );
}

export function noDevTasks({ environment }: PlayableEnvironment): Error {
  return dataError(
    `the environment ${environment.identity.name} has no dev tasks to validate on`,
    "Choose another --validation-env, or give tasks with --dev FILE.",
  );
}
