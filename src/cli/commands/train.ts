import { type Command, Option } from "commander";
import { ALGORITHMS, algorithmOf } from "../../learn/algorithms/index.ts";
import type { TrainedPolicy } from "../../learn/options.ts";
import { idleSettings } from "../../learn/settings/unused.ts";
import { completed } from "../../learn/settings.ts";
import { train } from "../../learn/train.ts";
import { readTrainingRun, type TrainingStep } from "../../runs/read-training-run.ts";
import { ALL_STEPS_DONE } from "../../runs/stop-reasons.ts";
import type { EvaluationRecord } from "../../runs/train-records.ts";
import { wilsonInterval } from "../../stats/wilson.ts";
import { algorithmHelp, describeAlgorithm } from "../algorithm-help.ts";
import { firstRowHas, missingAnswerWarning } from "../data-kind.ts";
import { onInterrupt } from "../on-interrupt.ts";
import { commandLines, counted, out, print, program } from "../terminal.ts";
import {
  addTrainOptions,
  expectedDataset,
  isPlayed,
  settingsOf,
  type TrainFlags,
  withTrainOptions,
} from "../train-options.ts";
import { type HeldOut, judgeLines, stoppedBy } from "../training-lines.ts";
import { TrainingProgress } from "../training-progress.ts";

interface Flags extends TrainFlags {
  readonly showSettings?: boolean;
}

/** With the name of an algorithm, about that one. */
export function help([name]: readonly string[]): string {
  const algorithm = ALGORITHMS.find((one) => one.name === name);
  return algorithm ? algorithmHelp(algorithm) : GENERAL_HELP;
}

const GENERAL_HELP = `Algorithms:
${ALGORITHMS.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join("\n")}

Contents of --dataset: texts (prompt, completion; or messages, whose answers
are learned) for sft; preference pairs (prompt, chosen, rejected) for dpo, ipo,
orpo; labels (prompt, completion, label) for kto; examples (id, prompt,
expected_answer) for the others, which sample. \`lockedroom pairs\` makes
preference pairs and labels from samples.

With --env the methods that sample play episodes of an environment, over one or
more turns, and learn from its rewards: on its train tasks unless --dataset
names tasks of it, validated on its dev tasks (--set evaluate.tasks=N) unless
--dev does. \`lockedroom env list\` has the environments.

With --judge a language model compares the episodes of each task, and its
scores are the reward: no ground truth is needed. Labels still validate where
there are any: the rewards of --env, those of --validation-env (the same tasks),
or --validation-scorer. Without labels validation is how often the judge prefers
the policy to the initial one. A group without a verdict is left out, counted,
and never scored 0.

\`lockedroom train ALGORITHM --help\` describes one of them: data, settings,
an example. --steps has a default for each. With --dev, a run also ends when
validation has not improved for 50 steps (--set stop.plateau=null: never); a
target, a margin over the baseline and budgets of tokens, time and money are
further settings of stop.

--show-settings prints every setting of --config and --set with its default,
meaning and range, as a recipe to edit. It needs neither --dataset nor --outdir.

Files of a run: manifest.json, metrics.jsonl (one line per update),
evaluations.jsonl, samples.jsonl, alarms.jsonl, states.jsonl (hashes of saved
states), checkpoint/, summary.json; with --judge also baseline.jsonl, the
initial policy's episodes on the validation tasks.

Examples:
  lockedroom train grpo --show-settings > recipe.yaml
  lockedroom train sft --dataset texts.jsonl --steps 1000 --outdir runs/sft
  lockedroom train grpo --init pi0 --dataset \\
    data/datasets/math_train.jsonl --dev data/datasets/math_dev.jsonl \\
    --steps 50 --threads 2 --outdir runs/grpo
  lockedroom train dpo --init pi0 --dataset runs/pairs/pairs.jsonl \\
    --steps 100 --set algorithm.beta=0.2 --outdir runs/dpo
  lockedroom train grpo --init runs/start/checkpoint --env twenty48 \\
    --set rollouts.credit=segment --steps 50 --outdir runs/2048
  lockedroom train grpo --init runs/start/checkpoint --env support-replies \\
    --judge embedded --rubric rubric.md \\
    --validation-env support-replies-labelled --steps 100 --outdir runs/judged
  lockedroom train sft --dataset texts.jsonl --steps 1000 --outdir runs/sft \\
    --resume`;

export function define(
  command: Command,
  _exit: (code: number) => void,
  [name]: readonly string[],
): void {
  const algorithm = ALGORITHMS.find((one) => one.name === name);
  addTrainOptions(command)
    .description(
      "Trains a policy and writes a checkpoint (Loop C). Needs the package onnxruntime-node.",
    )
    .addOption(
      new Option("--show-settings", "print all settings as a recipe and exit")
        // Nothing is read or written.
        .implies({ outdir: "" }),
    )
    .action(run);
  if (algorithm) describeAlgorithm(command, algorithm);
}

async function run(name: string, { showSettings, ...flags }: Flags): Promise<void> {
  const algorithm = algorithmOf(name);
  if (showSettings) {
    const { recipeText } = await import("../recipe-text.ts");
    return out(recipeText(algorithm, await settingsOf(flags)));
  }
  const progress = new TrainingProgress(flags.quiet);
  const listener = onInterrupt(
    () => progress.stop(),
    "Continue from the last resume point (--save-every) with the same command and --resume.",
  );
  try {
    const trained = await withTrainOptions(name, flags, (options) => {
      const { settings } = options;
      // A scorer of one's own may read other fields.
      const own = flags.scorer.length > 0 || isPlayed(flags) || flags.judge !== undefined;
      const doubt = own ? undefined : missingAnswerWarning(expectedDataset(name, flags));
      if (doubt !== undefined) progress.warn(doubt);
      for (const { because, add } of idleSettings(algorithm, settings)) {
        progress.warn(add === undefined ? because : `${because}; add --set ${add}`);
      }
      const shown = { ...completed(algorithm, settings), heldOut: heldOutOf(flags.dev) };
      return train({ ...options, ...progress.listeners(shown) });
    });
    progress.stop();
    const { max_tokens: maxTokens } = completed(algorithm, await settingsOf(flags)).evaluate;
    if (!flags.quiet) await printTrained(trained, flags, maxTokens);
  } finally {
    progress.stop();
    process.removeListener("SIGINT", listener);
  }
}

function heldOutOf(dev: string | undefined): HeldOut {
  if (dev === undefined) return "no rows";
  return firstRowHas(dev, "completion") ? "loss" : "no completion";
}

async function printTrained(
  { dir, checkpoint, summary }: TrainedPolicy,
  flags: Flags,
  maxTokens: number,
): Promise<void> {
  const { steps, tokens, first_loss: first, last_loss: last, stop, holdout: test } = summary;
  out(`Trained for ${counted(steps, "update")} on ${tokens} tokens.`);
  const run = await readTrainingRun(dir);
  const { evaluations, steps: records } = run;
  if (stop.reason !== ALL_STEPS_DONE) {
    const which = evaluations.length > 0 ? " (best on validation)" : "";
    const kept = `Kept the policy at step ${stop.kept}${which}.`;
    print(`Stopped at step ${stop.step} by ${stoppedBy(stop.reason)}. ${kept}`, "");
  }
  out();
  out(`  loss        ${first.toFixed(4)} → ${last.toFixed(4)}`);
  if (evaluations.length === 0) printReward(records);
  const [start, end] = [evaluations[0], evaluations.at(-1)];
  if (start && end) {
    out(
      `  validation  ${start.pass_rate.toFixed(4)} → ${end.pass_rate.toFixed(4)}  ${intervalOf(end)}`,
    );
    if (end.episode)
      out(
        `  reward      ${start.reward_mean.toFixed(4)} → ${end.reward_mean.toFixed(4)}  validation`,
      );
    for (const line of judgeLines(run)) out(line);
    if (end.kl_exact !== null)
      out(`  KL          ${end.kl_exact.toFixed(4)}  nats per token, exact`);
    out(`  entropy     ${start.entropy.toFixed(4)} → ${end.entropy.toFixed(4)}  nats per token`);
  }
  if (test.pass_rate !== null) {
    const times = test.before + test.evaluations;
    out(
      `  holdout     ${test.pass_rate.toFixed(4)}  used ${times === 1 ? "once" : `${times} times`} so far`,
    );
  }
  out();
  out(`Policy written to ${checkpoint}`);
  out(
    evaluations.length > 1
      ? commandLines(`Next: ${program()} report`, [`--run ${dir}`, `--outfile ${dir}.html`])
      : commandLines(`Next: ${program()} policy show`, [checkpoint]),
  );
  // Same max_tokens as in validation: the gate rejects runs with different sampling settings.
  const sampling = ["--n 1", `--max-tokens ${maxTokens}`];
  if (isPlayed(flags)) {
    const own = [`--env ${flags.env}`, "--split holdout", `--policy ${checkpoint}`];
    return out(
      commandLines(`Then play it: ${program()} rollout`, [
        ...[...own, ...sampling, `--outdir ${dir}-rollout`],
      ]),
    );
  }
  const { holdout, scorer, validationScorer = scorer[0] } = flags;
  // Not on --dev: the gate rejects runs on what the policy was validated on.
  const dataset = `--dataset ${holdout ?? "HELD_OUT"}`;
  const policy = [`--policy ${checkpoint}`, dataset, ...sampling];
  out(
    commandLines(`Then evaluate it: ${program()} rollout`, [...policy, `--outdir ${dir}-rollout`]),
  );
  // Without a scorer of its own, what rollout prints next is complete.
  if (validationScorer === undefined) return;
  const scored = [`--completions ${dir}-rollout/completions.jsonl`, `--scorer ${validationScorer}`];
  out(
    commandLines(`And score it: ${program()} eval`, [dataset, ...scored, `--outdir ${dir}-eval`]),
  );
}

/** Of methods that sample: without validation, what they say of their success. */
function printReward(steps: readonly TrainingStep[]): void {
  const [first, last] = [steps[0], steps.at(-1)].map((one) => one?.values["reward/mean"]);
  if (first === undefined || last === undefined) return;
  out(`  reward      ${first.toFixed(4)} → ${last.toFixed(4)}  mean of the first and last step`);
}

function intervalOf({ pass_rate, examples }: EvaluationRecord): string {
  const [low, high] = wilsonInterval(Math.round(pass_rate * examples), examples) ?? [0, 1];
  return `of ${examples}, 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}`;
}
