/** `lockedroom train` */

import { type Command, Option } from "commander";
import { ALGORITHMS, algorithmOf } from "../../learn/algorithms/index.ts";
import { completed, idleSettings } from "../../learn/settings.ts";
import { train } from "../../learn/train.ts";
import { missingAnswerWarning } from "../data-kind.ts";
import { recipeText } from "../recipe-text.ts";
import { out, program } from "../terminal.ts";
import {
  expectedDataset,
  settingsOf,
  type TrainFlags,
  withScorers,
  withTrainOptions,
} from "../train-options.ts";
import { TrainingProgress } from "../train-progress.ts";
import { printTrained } from "../train-text.ts";

interface Flags extends TrainFlags {
  readonly showSettings?: boolean;
}

export const help = `Algorithms:
${ALGORITHMS.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join("\n")}

Contents of --dataset: texts (prompt, completion) for sft; preference pairs
(prompt, chosen, rejected) for dpo, ipo, orpo; labels (prompt, completion,
label) for kto; examples (id, prompt, expected_answer) for the others, which
sample. \`lockedroom pairs\` makes preference pairs and labels from samples.

--show-settings prints every setting of --config and --set with its default,
meaning and range, as a recipe to edit. It needs neither --dataset nor --outdir.

Files of a run: manifest.json, metrics.jsonl (one line per update),
evaluations.jsonl, samples.jsonl, alarms.jsonl, checkpoint/, summary.json.

Examples:
  lockedroom train grpo --show-settings > recipe.yaml
  lockedroom train sft --dataset texts.jsonl --steps 1000 --outdir runs/sft
  lockedroom train grpo --init pi0 --dataset \\
    data/datasets/math_train.jsonl --dev data/datasets/math_dev.jsonl \\
    --steps 50 --threads 2 --outdir runs/grpo
  lockedroom train dpo --init pi0 --dataset runs/pairs/pairs.jsonl \\
    --steps 100 --set algorithm.beta=0.2 --outdir runs/dpo
  lockedroom train sft --dataset texts.jsonl --steps 1000 --outdir runs/sft \\
    --resume`;

export function define(command: Command): Command {
  return withTrainOptions(
    command.description(
      "Trains a policy and writes a checkpoint (Loop C). Needs the package\nonnxruntime-node.",
    ),
  )
    .addOption(
      new Option("--show-settings", "print all settings as a recipe and exit")
        // Nothing is read or written.
        .implies({ dataset: "", outdir: "" }),
    )
    .action(run);
}

async function run(algorithm: string, { showSettings, ...flags }: Flags): Promise<void> {
  if (showSettings) return out(recipeText(algorithmOf(algorithm), await settingsOf(flags)));
  const progress = new TrainingProgress(flags.quiet);
  try {
    const settings = await settingsOf(flags);
    const trained = await withScorers(algorithm, flags, (scorers) => {
      const doubt = missingAnswerWarning(expectedDataset(algorithm, flags));
      if (doubt !== undefined) progress.warn(doubt);
      for (const { because, add } of idleSettings(algorithmOf(algorithm), settings)) {
        progress.warn(add === undefined ? because : `${because}; add --set ${add}`);
      }
      return train({
        ...flags,
        ...scorers,
        ...{ algorithm, settings },
        onProgress: (done, total, what) => progress.preparing(done, total, what),
        onStep: (done, record) => progress.step(done, Number(settings.steps), record),
        onAlarm: (alarm) => progress.alarm(alarm),
      });
    });
    progress.stop();
    const { max_tokens: maxTokens } = completed(algorithmOf(algorithm), settings).evaluate;
    if (!flags.quiet) await printTrained(trained, program(), { dev: flags.dev, maxTokens });
  } finally {
    progress.stop();
  }
}
