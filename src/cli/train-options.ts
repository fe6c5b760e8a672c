/** The flags that say how to train, shared by `train` and `sweep`. */

import { Argument, type Command, Option } from "commander";
import type { JsonObject } from "../core/json.ts";
import type { GuardedScorer } from "../core/score.ts";
import type { Need } from "../learn/algorithm.ts";
import { ALGORITHMS } from "../learn/algorithms/index.ts";
import type { TrainOptions } from "../learn/options.ts";
import { assigned, readRecipe, together } from "../learn/recipe.ts";
import { isSampled } from "../learn/sources/index.ts";
import { SIZES } from "../policy/initialise.ts";
import { DEFAULT_TIMEOUT_MS, openScorer } from "../scorers/open.ts";
import { type DataKind, explained, type Reads } from "./data-kind.ts";
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
    .addArgument(new Argument("<algorithm>", "how it learns").choices(names))
    .requiredOption("--dataset <file>", "what it learns from, JSONL")
    .requiredOption("--outdir <folder>", "where the run is written; new or empty")
    .option("--init <start>", "scratch (sft only), pi0, or a checkpoint's folder", "scratch")
    .addOption(
      new Option("--size <size>", "of a policy from scratch")
        .choices(Object.keys(SIZES))
        .default("nano"),
    )
    .option("--config <file>", "a recipe: settings as YAML; flags win")
    .option("--set <name=value>", "any other setting, such as rollouts.group=16", list, [])
    .option("--steps <n>", "updates", wholeNumber(1, 10_000_000))
    .option("--seed <n>", "which luck (default: 0)", SEED)
    .option("--batch <n>", "texts, pairs or labels in each update", wholeNumber(1, 65_536))
    .option("--lr <x>", "highest learning rate", numberIn(0, 10, "from 0 to 10"))
    .option("--warmup <n>", "updates of rising learning rate", wholeNumber(0))
    .addOption(
      new Option("--schedule <shape>", "how the learning rate falls afterwards").choices([
        "constant",
        "linear",
        "cosine",
      ]),
    )
    .option("--scorer <name|file>", "who rewards; several are added up", list, [])
    .option("--validation-scorer <name|file>", "who says how good it really is")
    .option("--cost-scorer <name|file>", "what the setting cost keeps below its limit")
    .addOption(CONCURRENCY)
    .option("--scorer-timeout <ms>", "limit for scoring one row", milliseconds, DEFAULT_TIMEOUT_MS)
    .option("--dev <file>", "examples to validate on while it learns")
    .option("--eval-every <n>", "updates between validations; 0 for never", wholeNumber(0))
    .option("--holdout <file>", "examples to test on, once, at the very end")
    .option("--save-every <n>", "updates between saved positions", wholeNumber(1), 200)
    .option("--threads <n>", "of the engine; the bytes are the same", wholeNumber(1, 64), 1)
    .option("--resume", "go on with an unfinished run")
    .option("--force", "replace what training run is in --outdir")
    .option("--quiet", "print nothing but errors");
}

/** The recipe first, then what was assigned, then the flags. */
export async function settingsOf(flags: TrainFlags): Promise<JsonObject> {
  const { config, set, steps, seed, batch, lr: peak, warmup, schedule: shape, evalEvery } = flags;
  return together(
    config === undefined ? {} : await readRecipe(config),
    ...set.map(assigned),
    some({ steps, seed, batch }),
    group("rate", some({ peak, warmup, shape })),
    group("evaluate", some({ every: evalEvery })),
  );
}

/** Nothing where it is empty: an empty group would hide a wrong value in its place. */
function group(name: string, values: JsonObject): JsonObject {
  return Object.keys(values).length === 0 ? {} : { [name]: values };
}

/** What was given. */
function some(values: Record<string, number | string | undefined>): JsonObject {
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

const LEARNERS: Reads["instead"] = {
  texts: "sft learns from those.",
  packs: "`lockedroom pairs` makes pairs and labels of those.",
  pairs: "dpo, ipo and orpo learn from those.",
  labels: "kto learns from those.",
  examples: "grpo and others that sample learn from those.",
};

/** What --dataset is to hold. */
export function readsOf(algorithm: string, { dataset: file }: TrainFlags): Reads {
  const wanted = READS[needsOf(algorithm)];
  return { file, wanted, who: `${algorithm} learns from`, instead: LEARNERS };
}

function needsOf(algorithm: string): Need {
  return ALGORITHMS.find(({ name }) => name === algorithm)?.needs ?? "texts";
}

/** Opens the scorers that the flags name, gives them to the work, and closes them whatever happens. */
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
    throw explained(error, readsOf(algorithm, flags));
  } finally {
    for (const one of opened) await one.close();
  }
}
