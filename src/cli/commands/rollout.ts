import { existsSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ActingPolicy } from "../../core/actor.ts";
import { SPLITS, type Split } from "../../core/environment.ts";
import { usageError } from "../../core/errors.ts";
import { rollout } from "../../loops/rollout.ts";
import { rolloutEpisodes } from "../../loops/rollout-episodes.ts";
import type { FinishedRollout } from "../../runs/finished-rollout.ts";
import { onInterrupt } from "../on-interrupt.ts";
import { openPolicy, type PolicyFlags, readSystem } from "../open-policy.ts";
import {
  addRunOptions,
  EXAMPLES,
  numberIn,
  pricesOf,
  type RunFlags,
  SEED,
  wholeNumber,
} from "../options.ts";
import { type TokenProgress, tokenProgress } from "../progress.ts";
import { printEpisodes, writtenTokens } from "../rollout-episodes-text.ts";
import { printCost, printTiming, trainedOn } from "../rollout-text.ts";
import { commandLines, out, print, program, warning } from "../terminal.ts";

interface Flags extends RunFlags, PolicyFlags {
  readonly dataset?: string;
  readonly env?: string;
  readonly split?: Split;
  readonly tasks?: number;
  readonly maxFailures?: number;
  readonly n: number;
  readonly system?: string;
  readonly priceIn?: number;
  readonly priceOut?: number;
  readonly resume?: boolean;
}

const price = numberIn(0, 1e9, "a price for a million tokens");

export const help = `openai:MODEL uses any endpoint with OpenAI's chat completions API: set
OPENAI_BASE_URL (default: OpenAI) and OPENAI_API_KEY, which is never written to
a file. Completions are saved as they arrive; --resume requests only the rest.
A checkpoint folder lists its rollouts in rollouts.jsonl: the manifest says with
how many seeds the policy has answered any of the examples so far.

With --env the policy plays --n episodes of each task of an environment, and the
conversations are written as trajectories. An endpoint is offered the tools of
the environment, and its system prompt is the rules that env show NAME prints;
--system replaces them. A checkpoint reads the observations alone. An episode
whose endpoint or environment fails is listed in failures.jsonl and is in no
rate; an interrupted episode starts again.

Examples:
  lockedroom rollout --policy pi0 --n 1 --max-tokens 32 \\
    --dataset data/datasets/math_dev.jsonl --outdir runs/rollout
  lockedroom rollout --policy openai:gpt-4.1-mini --n 8 --max-tokens 256 \\
    --dataset data/datasets/math_dev.jsonl --outdir runs/samples \\
    --price-in 0.40 --price-out 1.60
  lockedroom rollout --env arithmetic --split dev --policy pi0 --n 1 \\
    --max-tokens 32 --outdir runs/episodes
  lockedroom rollout --env tool-calls --policy openai:gpt-4.1-mini --n 4 \\
    --tasks 20 --max-tokens 256 --outdir runs/tools`;

export function define(command: Command): void {
  command
    .description(
      "Samples completions from a policy, or with --env plays episodes of an environment. One completion per example (--n 1) makes a file for eval, several make a file for selection-demo and pairs.",
    )
    .requiredOption("--policy <policy>", "pi0, a checkpoint folder, alias:NAME or openai:MODEL")
    .option(...EXAMPLES)
    .option(
      "--env <environment>",
      "in place of --dataset: a name of env list, a .ts or .js file, or openenv:URL",
    )
    .addOption(
      new Option("--split <split>", "split of the environment's tasks (default: dev)").choices(
        SPLITS,
      ),
    )
    .option("--tasks <n>", "only the first n tasks of the split", wholeNumber(1))
    .requiredOption(
      "--n <n>",
      "completions per example, or episodes per task",
      wholeNumber(1, 100_000),
    )
    .option(
      "--temperature <t>",
      "sampling temperature; 0 is greedy",
      numberIn(0, 100, "a number from 0 to 100"),
      1,
    )
    .option(
      "--top-p <p>",
      "nucleus sampling: top tokens with this probability mass",
      numberIn(Number.MIN_VALUE, 1, "a number above 0 and up to 1"),
      1,
    )
    .option("--top-k <k>", "sample from the k most likely tokens; 0: all", wholeNumber(0), 0)
    .option("--max-tokens <n>", "maximum tokens per completion or turn", wholeNumber(1), 64)
    .option(...SEED)
    .option("--stop <text...>", "stop sequences", stopText)
    .option(
      "--system <file>",
      "file with a system prompt (default: none; with --env, an endpoint gets its rules)",
    )
    .option("--concurrency <n>", "concurrent requests to an endpoint", wholeNumber(1, 256), 8)
    .option("--price-in <x>", "price per million prompt tokens", price)
    .option("--price-out <x>", "price per million completion tokens", price)
    .option(
      "--max-failures <n>",
      "episodes that may fail (default: 2 %, and at least one)",
      wholeNumber(0),
    )
    .option("--resume", "continue an interrupted rollout in --outdir")
    .action(run);
  addRunOptions(command, "the rollout");
}

function stopText(text: string, before: string[] | undefined): string[] {
  if (text === "") throw new InvalidArgumentError("It must not be empty.");
  return [...(before ?? []), text];
}

async function run(flags: Flags): Promise<void> {
  const { dataset, env } = flags;
  if ((dataset === undefined) === (env === undefined)) {
    throw usageError(
      dataset === undefined
        ? "rollout needs --dataset or --env"
        : "--dataset and --env exclude each other",
      "Give --dataset for completions of examples, or --env for episodes of an environment.",
    );
  }
  const only = (["split", "tasks", "maxFailures"] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (dataset !== undefined && only !== undefined) {
    throw usageError(
      `--${only === "maxFailures" ? "max-failures" : only} needs --env`,
      "Leave it out, or give --env in place of --dataset.",
    );
  }
  if (env !== undefined) return playEpisodes({ ...flags, env });
  return sampleCompletions({ ...flags, dataset: dataset as string });
}

/** The policy of the flags, with what is needed around it: a progress bar and word of an interruption. */
async function withPolicy<T>(
  flags: Flags,
  label: string,
  work: (policy: ActingPolicy, progress: TokenProgress, inputs: string[]) => Promise<T>,
  onNotice: (text: string) => void,
  rules?: string,
): Promise<T> {
  const system = flags.system === undefined ? undefined : await readSystem(flags.system);
  const policy = await openPolicy(flags, system, onNotice, rules);
  const progress = tokenProgress(label, flags.quiet);
  const listener = onInterrupt(
    progress.stop,
    `The ${flags.env === undefined ? "completions" : "episodes"} so far are saved: continue with the same command and --resume.`,
  );
  const inputs = [flags.system ?? "", policy.place?.path ?? flags.policy].filter(existsSync);
  try {
    return await work(policy, progress, inputs);
  } finally {
    progress.stop();
    process.removeListener("SIGINT", listener);
    await policy.close();
  }
}

async function playEpisodes(flags: Flags & { readonly env: string }): Promise<void> {
  const prices = pricesOf(flags);
  const notices: string[] = [];
  const { openPlayable } = await import("../../openenv/open-playable.ts");
  const environment = await openPlayable(flags.env, (text) => notices.push(text));
  let kept = 0;
  const play = (policy: ActingPolicy, progress: TokenProgress, inputs: string[]) =>
    rolloutEpisodes({
      ...{ policy, environment, split: flags.split ?? "dev", tasks: flags.tasks, n: flags.n },
      ...{ outdir: flags.outdir, maxFailures: flags.maxFailures },
      ...{ resume: flags.resume, force: flags.force, prices },
      inputs: [...inputs, flags.env].filter(existsSync),
      onStart: (wanted, before) => {
        kept = before;
        progress.start(wanted, before);
      },
      onEpisode: (trajectory) => progress.add(writtenTokens(trajectory)),
    });
  try {
    const { spec } = environment.environment.identity;
    const rules = typeof spec === "string" && spec !== "" ? spec : undefined;
    const result = await withPolicy(flags, "Playing", play, (text) => notices.push(text), rules);
    if (!flags.quiet) printEpisodes(result, flags, kept, notices);
  } finally {
    await environment.close();
  }
}

async function sampleCompletions(flags: Flags & { readonly dataset: string }): Promise<void> {
  const prices = pricesOf(flags);
  const notices: string[] = [];
  let kept = 0;
  const sample = (policy: ActingPolicy, progress: TokenProgress, inputs: string[]) =>
    rollout({
      policy,
      ...{ dataset: flags.dataset, n: flags.n, outdir: flags.outdir },
      ...{ resume: flags.resume, force: flags.force, prices, inputs },
      onStart: (wanted, before) => {
        kept = before;
        progress.start(wanted, before);
      },
      onAnswer: ({ completion_tokens }) => progress.add(completion_tokens),
    });
  const result = await withPolicy(flags, "Sampling", sample, (text) => notices.push(text));
  if (!flags.quiet) printRollout(result, flags, kept, notices);
}

function printRollout(
  { dir, answers, manifest, summary }: FinishedRollout,
  { dataset, policy }: Flags & { readonly dataset: string },
  kept: number,
  notices: readonly string[],
): void {
  const { n_examples: examples, n_answers: total, cost } = summary;
  const each = manifest.n === 1 ? "one completion" : `${manifest.n} completions`;
  print(`Sampled ${each} for each of ${examples} examples from ${policy}.`);
  if (kept > 0) out(`  ${kept} of ${total} are from an earlier session.`);
  for (const notice of notices) out(warning(notice));
  const { rows: learned = 0, first_ids: ids = [] } = manifest.exposure?.learned ?? {};
  if (learned > 0) out(warning(trainedOn(learned, examples, ids)));
  if (summary.n_refused > 0) out(`  ${summary.n_refused} are refusals.`);
  if (summary.n_empty > 0) out(`  ${summary.n_empty} are empty.`);
  out();
  for (const [end, count] of Object.entries(summary.finish).sort((a, b) => b[1] - a[1])) {
    print(`finish reason ${end}: ${count}`, "  ");
  }
  printCost(cost);
  printTiming(manifest.volatile.timing);
  out();
  print(`Rollout written to ${dir}`);
  const [command, ...flags] =
    manifest.n === 1
      ? ["eval", `--dataset ${dataset}`, `--completions ${answers}`]
      : ["selection-demo", `--dataset ${dataset}`, `--samples ${answers}`, `--n ${manifest.n}`];
  out(commandLines(`Next: ${program()} ${command}`, [...flags, `--outdir ${dir}-scored`]));
}
