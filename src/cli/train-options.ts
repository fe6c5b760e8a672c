/** Options of `train` and `sweep`. */

import { Argument, type Command, Option } from "commander";
import type { JsonObject } from "../core/json.ts";
import type { GuardedScorer } from "../core/score.ts";
import type { Need } from "../learn/algorithm.ts";
import { ALGORITHMS } from "../learn/algorithms/index.ts";
import type { TrainOptions } from "../learn/options.ts";
import { mergeSettings, parseAssignment, readRecipe } from "../learn/recipe.ts";
import { isSampled } from "../learn/sources/index.ts";
import { SIZES } from "../policy/initialise.ts";
import { DEFAULT_SCORER } from "../scorers/load.ts";
import { DEFAULT_TIMEOUT_MS, openScorer } from "../scorers/open.ts";
import { type DataKind, type ExpectedData, explained } from "./data-kind.ts";
import { CONCURRENCY, milliseconds, numberIn, SEED, wholeNumber } from "./options.ts";
import { scorerHere } from "./workspace.ts";

export interface TrainFlags
  extends Omit<TrainOptions, "settings" | "rewards" | "validation" | "cost"> {
  readonly concurrency: number;
  readonly scorerTimeout: number;
  readonly steps?: number;
  readonly seed?: number;
  readonly batch?: number;
  readonly lr?: number;
  readonly warmup?: number;
  readonly schedule?: string;
  readonly evalEvery?: number;
  readonly config?: string;
  readonly set: readonly string[];
  readonly scorer: readonly string[];
  readonly validationScorer?: string;
  readonly costScorer?: string;
  readonly quiet?: boolean;
}

const list = (value: string, before: readonly string[]) => [...before, value];

export function withTrainOptions(command: Command): Command {
  const names = ALGORITHMS.map(({ name }) => name);
  return command
    .addArgument(new Argument("<algorithm>", "training algorithm").choices(names))
    .requiredOption("--dataset <file>", "training data, JSONL")
    .requiredOption("--outdir <folder>", "where the run is written; new or empty")
    .option(
      "--init <start>",
      "initial policy: scratch (sft only), pi0 or a\ncheckpoint folder",
      "scratch",
    )
    .addOption(
      new Option("--size <size>", "model size for --init scratch")
        .choices(Object.keys(SIZES))
        .default("nano"),
    )
    .option("--config <file>", "recipe: settings as YAML; flags override it")
    .addOption(
      new Option("--set <name=value>", "any setting, such as rollouts.group=16; repeatable")
        .argParser(list)
        .default([], "none"),
    )
    .option("--steps <n>", "number of updates", wholeNumber(1, 10_000_000))
    .option("--seed <n>", "random seed (default: 0)", SEED)
    .option(
      "--batch <n>",
      "rows per update: texts, preference pairs or labels",
      wholeNumber(1, 65_536),
    )
    .option("--lr <x>", "peak learning rate", numberIn(0, 10, "from 0 to 10"))
    .option("--warmup <n>", "warm-up updates", wholeNumber(0))
    .addOption(
      new Option("--schedule <shape>", "learning rate after the warm-up").choices([
        "constant",
        "linear",
        "cosine",
      ]),
    )
    .addOption(
      new Option("--scorer <name|file>", "reward scorer; repeatable, rewards are added")
        .argParser(list)
        .default([], DEFAULT_SCORER),
    )
    .option("--validation-scorer <name|file>", "scorer used for validation")
    .option("--cost-scorer <name|file>", "scorer whose mean stays below the setting cost.limit")
    .addOption(CONCURRENCY)
    .option(
      "--scorer-timeout <ms>",
      "time limit for scoring one row",
      milliseconds,
      DEFAULT_TIMEOUT_MS,
    )
    .option("--dev <file>", "validation examples")
    .option("--eval-every <n>", "updates between validations; 0: never", wholeNumber(0))
    .option("--holdout <file>", "test examples, used once at the end")
    .option("--save-every <n>", "updates between resume points", wholeNumber(1), 200)
    .option("--threads <n>", "engine threads; they do not change the result", wholeNumber(1, 64), 1)
    .option("--resume", "continue an unfinished run")
    .option("--force", "overwrite the training run in --outdir")
    .option("--quiet", "print only errors");
}

/** Later ones override earlier ones: recipe, --set, flags. */
export async function settingsOf(flags: TrainFlags): Promise<JsonObject> {
  const { config, set, steps, seed, batch, lr: peak, warmup, schedule: shape, evalEvery } = flags;
  return mergeSettings(
    config === undefined ? {} : await readRecipe(config),
    ...set.map(parseAssignment),
    defined({ steps, seed, batch }),
    group("rate", defined({ peak, warmup, shape })),
    group("evaluate", defined({ every: evalEvery })),
  );
}

/** Empty groups are left out: they would hide a wrong value of the same name. */
function group(name: string, values: JsonObject): JsonObject {
  return Object.keys(values).length === 0 ? {} : { [name]: values };
}

/** The values that are set. */
function defined(values: Record<string, number | string | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as JsonObject;
}

const READS: Record<Need, DataKind> = {
  texts: "texts",
  pairs: "pairs",
  labels: "labels",
  rollouts: "examples",
  "passing samples": "examples",
};

const ALTERNATIVES: ExpectedData["instead"] = {
  texts: "Train on it with sft.",
  packs: "Make preference pairs and labels from it with `lockedroom pairs`.",
  pairs: "Train on it with dpo, ipo or orpo.",
  labels: "Train on it with kto.",
  examples: "Train on it with grpo or another algorithm that samples.",
};

/** What --dataset must contain. */
export function expectedDataset(algorithm: string, { dataset: file }: TrainFlags): ExpectedData {
  const wanted = READS[needsOf(algorithm)];
  return { file, wanted, who: `${algorithm} trains on`, instead: ALTERNATIVES };
}

function needsOf(algorithm: string): Need {
  return ALGORITHMS.find(({ name }) => name === algorithm)?.needs ?? "texts";
}

/** Runs the work with the scorers of the flags, and always closes them. */
export async function withScorers<T>(
  algorithm: string,
  flags: TrainFlags,
  work: (scorers: Pick<TrainOptions, "rewards" | "validation" | "cost">) => Promise<T>,
): Promise<T> {
  const { scorer, validationScorer, costScorer, dev, holdout } = flags;
  const needs = needsOf(algorithm);
  const opened: GuardedScorer[] = [];
  const open = async (name: string | undefined) => {
    const options = { concurrency: flags.concurrency, timeoutMs: flags.scorerTimeout };
    const opening = await openScorer(await scorerHere(name), options);
    opened.push(opening);
    return opening;
  };
  try {
    const rewards: GuardedScorer[] = [];
    if (isSampled(needs)) {
      for (const name of scorer.length > 0 ? scorer : [undefined]) rewards.push(await open(name));
    }
    const measured = dev !== undefined || holdout !== undefined;
    const apart = validationScorer !== undefined || (measured && rewards.length === 0);
    return await work({
      rewards,
      validation: apart ? await open(validationScorer ?? scorer[0]) : undefined,
      cost: costScorer === undefined ? undefined : await open(costScorer),
    });
  } catch (error) {
    throw explained(error, expectedDataset(algorithm, flags));
  } finally {
    for (const one of opened) await one.close();
  }
}
