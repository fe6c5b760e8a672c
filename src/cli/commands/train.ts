/** `lockedroom train` */

import { Argument, type Command, Option } from "commander";
import type { Schedule } from "../../learn/parts/schedule.ts";
import { type TrainOptions, trainSft } from "../../learn/train.ts";
import { SIZES } from "../../policy/initialise.ts";
import { answerProgress } from "../answer-progress.ts";
import { numberIn, SEED, wholeNumber } from "../options.ts";
import { out, program } from "../terminal.ts";

interface Flags extends Omit<TrainOptions, "schedule"> {
  readonly lr: number;
  readonly warmup: number;
  readonly schedule: Schedule["shape"];
  readonly quiet?: boolean;
}

export function define(command: Command): Command {
  return command
    .description(
      "Loop C: trains a policy and writes a checkpoint. Needs the package\nonnxruntime-node.",
    )
    .addArgument(new Argument("<algorithm>", "how it learns").choices(["sft"]))
    .requiredOption("--dataset <file>", "texts, JSONL: prompt, completion")
    .requiredOption("--steps <n>", "updates", wholeNumber(1, 10_000_000))
    .requiredOption("--outdir <folder>", "where the run is written; new or empty")
    .option("--init <start>", "scratch, or the folder of a checkpoint", "scratch")
    .addOption(
      new Option("--size <size>", "of a policy from scratch")
        .choices(Object.keys(SIZES))
        .default("nano"),
    )
    .option("--batch <n>", "texts in each update", wholeNumber(1, 65_536), 64)
    .option("--seed <n>", "which luck", SEED, 0)
    .option("--lr <x>", "highest learning rate", numberIn(0, 10, "from 0 to 10"), 0.003)
    .option("--warmup <n>", "updates of rising learning rate", wholeNumber(0), 20)
    .addOption(
      new Option("--schedule <shape>", "how the learning rate falls afterwards")
        .choices(["constant", "linear", "cosine"])
        .default("cosine"),
    )
    .option("--save-every <n>", "updates between saved positions", wholeNumber(1), 200)
    .option("--threads <n>", "of the engine; 1 and 2 give the same bytes", wholeNumber(1, 64), 1)
    .option("--resume", "go on with an unfinished run")
    .option("--force", "replace what training run is in --outdir")
    .option("--quiet", "print nothing but errors")
    .addHelpText(
      "after",
      `
A run has manifest.json, metrics.jsonl (one line per update), checkpoint/ and,
last, summary.json.

Examples:
  lockedroom train sft --dataset texts.jsonl --steps 1000 --outdir runs/sft
  lockedroom train sft --dataset more.jsonl --init runs/sft/checkpoint \\
    --steps 200 --lr 0.001 --outdir runs/tuned
  lockedroom train sft --dataset texts.jsonl --steps 1000 --outdir runs/sft \\
    --resume`,
    )
    .action(run);
}

async function run(
  _algorithm: string,
  { lr, warmup, schedule, quiet, ...flags }: Flags,
): Promise<void> {
  const progress = answerProgress("Training", quiet);
  let begun = false;
  try {
    const { checkpoint, summary } = await trainSft({
      ...flags,
      schedule: { peak: lr, warmup: Math.min(warmup, flags.steps - 1), end: 0.1, shape: schedule },
      onStep(done, tokens) {
        if (!begun) progress.start(flags.steps, done - 1);
        begun = true;
        progress.add(tokens);
      },
    });
    progress.stop();
    if (quiet) return;
    const { steps, tokens, first_loss: first, last_loss: last } = summary;
    out(`Trained for ${steps} updates on ${tokens} tokens.`);
    out();
    out(`  loss  ${first.toFixed(4)} → ${last.toFixed(4)}  nats per learned token`);
    out();
    out(`Policy written to ${checkpoint}`);
    out(`Next: ${program()} policy show ${checkpoint}`);
  } finally {
    progress.stop();
  }
}
