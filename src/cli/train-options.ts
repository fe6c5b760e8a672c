/** Options of `train` and `sweep`. */

import { Argument, type Command, Option } from "commander";
import type { PlayableEnvironment } from "../core/environment.ts";
import { usageError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { GroupJudge } from "../core/judge.ts";
import type { GuardedScorer } from "../core/score.ts";
import { ALGORITHMS, algorithmOf } from "../learn/algorithms/index.ts";
import { ENGINES } from "../learn/engines.ts";
import type { TrainOptions } from "../learn/options.ts";
import { mergeSettings, nested, parseAssignment, readRecipe } from "../learn/recipe.ts";
import { isSampled } from "../learn/sources/index.ts";
import { SIZES } from "../policy/initialise.ts";
import { DEFAULT_SCORER } from "../scorers/load.ts";
import { type ExpectedData, explained } from "./data-kind.ts";
import { addPythonOption } from "./grader-host.ts";
import { addJudgeOptions, type JudgeFlags, openJudgeHere } from "./open-judge.ts";
import { addRunOptions, numberIn, repeated, SEED, wholeNumber } from "./options.ts";
import { CONCURRENCY, openScorerHere, SCORER_TIMEOUT, type ScorerFlags } from "./scoring.ts";
import { err, warning } from "./terminal.ts";

/** The settings and scorers of the options are given in other words on the command line. */
type Renamed =
  | "algorithm"
  | "settings"
  | "rewards"
  | "validation"
  | "cost"
  | "environment"
  | "validationEnvironment"
  | keyof JudgeFlags;

/** Flags that stand for a setting, by the setting's name. */
const SETTINGS = {
  steps: "steps",
  seed: "seed",
  batch: "batch",
  lr: "rate.peak",
  warmup: "rate.warmup",
  schedule: "rate.shape",
  evalEvery: "evaluate.every",
} as const;

type SettingFlags = { readonly [flag in keyof typeof SETTINGS]?: number | string };

/** A prompt and its scorer; every other environment has its own rewards. */
const SINGLE_TURN = "single_turn";

export interface TrainFlags
  extends Omit<TrainOptions, Renamed>,
    ScorerFlags,
    SettingFlags,
    JudgeFlags {
  readonly env: string;
  readonly validationEnv?: string;
  readonly config?: string;
  readonly set: readonly string[];
  readonly scorer: readonly string[];
  readonly validationScorer?: string;
  readonly costScorer?: string;
  readonly quiet?: boolean;
}

export function addTrainOptions(command: Command): Command {
  const oneOf = (flags: string, description: string, table: object) =>
    new Option(flags, description).choices(Object.keys(table));
  addPythonOption(command)
    .addArgument(
      new Argument("<algorithm>", "training algorithm").choices(ALGORITHMS.map(({ name }) => name)),
    )
    .option("--dataset <file>", "training data, JSONL (with --env: its train tasks unless given)")
    .option(
      "--init <start>",
      "initial policy: scratch (sft only), pi0, a checkpoint folder or alias:NAME",
      "scratch",
    )
    .addOption(oneOf("--size <size>", "model size for --init scratch", SIZES).default("nano"))
    .option(
      "--alphabet <characters>",
      "characters of a policy from scratch (default: those of the texts)",
    )
    .option(
      "--context <n>",
      "context length of a policy from scratch, in tokens (default: from the longest text)",
      wholeNumber(8, 65_536),
    )
    .option("--config <file>", "recipe: settings as YAML; flags override it")
    .addOption(
      new Option("--set <name=value>", "any setting, such as rollouts.group=16; repeatable")
        .argParser(repeated)
        .default([], "none"),
    )
    .option(
      "--steps <n>",
      "number of updates (default: the algorithm's)",
      wholeNumber(1, 10_000_000),
    )
    .option(SEED[0], "random seed (default: 0)", SEED[2])
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
        .argParser(repeated)
        .default([], DEFAULT_SCORER),
    )
    .option(
      "--validation-scorer <name|file>",
      "scorer used for validation (default: the first --scorer)",
    )
    .option("--cost-scorer <name|file>", "scorer whose mean stays below the setting cost.limit")
    .addOption(CONCURRENCY)
    .addOption(SCORER_TIMEOUT)
    .option("--dev <file>", "validation examples (with --env: its dev tasks unless given)")
    .option("--eval-every <n>", "updates between validations; 0: never", wholeNumber(0))
    .option("--holdout <file>", "test examples, used once at the end")
    .addOption(
      new Option(
        "--env <environment>",
        "environment to play in, with its own tasks and rewards: a name of `env list`, a .ts or .js file, or openenv:URL",
      ).default(SINGLE_TURN, "none: examples and a scorer"),
    )
    .option(
      "--validation-env <environment>",
      "the same tasks with labels, which only validate (default: the rewards of --env)",
    )
    .addOption(oneOf("--engine <name>", "training engine", ENGINES).default("local"))
    .option("--threads <n>", "engine threads; they do not change the result", wholeNumber(1, 64), 1)
    .option("--save-every <n>", "updates between resume points", wholeNumber(1), 200)
    .option("--resume", "continue an unfinished run");
  return addRunOptions(addJudgeOptions(command), "the training run");
}

/** Later ones override earlier ones: recipe, --set, flags. */
export async function settingsOf(flags: TrainFlags): Promise<JsonObject> {
  const given = Object.entries(SETTINGS).flatMap(([flag, name]) => {
    const value = flags[flag as keyof SettingFlags];
    return value === undefined ? [] : [nested(name.split("."), value)];
  });
  const recipe = flags.config === undefined ? {} : await readRecipe(flags.config);
  return mergeSettings(recipe, ...flags.set.map(parseAssignment), ...given);
}

const ALTERNATIVES: ExpectedData["instead"] = {
  texts: "Train on it with sft.",
  packs: "Make preference pairs and labels from it with `lockedroom pairs`.",
  pairs: "Train on it with dpo, ipo or orpo.",
  labels: "Train on it with kto.",
  examples: "Train on it with grpo or another algorithm that samples.",
};

/** What --dataset must contain. */
export function expectedDataset(
  algorithm: string,
  { dataset: file = "" }: TrainFlags,
): ExpectedData {
  const { needs } = algorithmOf(algorithm);
  const wanted = needs === "rollouts" || needs === "passing samples" ? "examples" : needs;
  return { file, wanted, who: `${algorithm} trains on`, instead: ALTERNATIVES };
}

/** Runs the work with the options that the flags stand for, and always closes their scorers. */
export async function withTrainOptions<T>(
  algorithm: string,
  flags: TrainFlags,
  work: (options: TrainOptions) => Promise<T>,
): Promise<T> {
  const { scorer, validationScorer, costScorer, dev, holdout } = flags;
  const opened: GuardedScorer[] = [];
  const open = async (name: string | undefined) => {
    const opening = await openScorerHere(name, flags);
    opened.push(opening);
    return opening;
  };
  const environments: PlayableEnvironment[] = [];
  const openPlayable = async (name: string | undefined) => {
    if (name === undefined) return undefined;
    const opening = await openEnvironment(name);
    environments.push(opening);
    return opening;
  };
  let judge: GroupJudge | undefined;
  try {
    const settings = await settingsOf(flags);
    const rewards: GuardedScorer[] = [];
    const own = isPlayed(flags);
    refuseScorers(flags);
    judge = await judgeOf(flags);
    const environment = await openPlayable(own ? flags.env : undefined);
    if (isSampled(algorithmOf(algorithm).needs) && !own) {
      const usual = judge ? [] : [undefined];
      for (const name of scorer.length > 0 ? scorer : usual) rewards.push(await open(name));
    }
    const measured = dev !== undefined || holdout !== undefined;
    const apart =
      validationScorer !== undefined || (measured && rewards.length === 0 && !own && !judge);
    return await work({
      ...flags,
      ...{ algorithm, settings, rewards, judge, environment: environment ?? flags.env },
      validationEnvironment: await openPlayable(flags.validationEnv),
      validation: apart ? await open(validationScorer ?? scorer[0]) : undefined,
      cost: costScorer === undefined ? undefined : await open(costScorer),
    });
  } catch (error) {
    throw explained(error, expectedDataset(algorithm, flags));
  } finally {
    for (const one of opened) await one.close();
    for (const one of environments) await one.close();
    await judge?.close();
  }
}

/** Undefined without --judge, beside which its other options have no effect. */
async function judgeOf(flags: TrainFlags): Promise<GroupJudge | undefined> {
  const { judge } = flags;
  if (judge !== undefined) return openJudgeHere({ ...flags, judge });
  const given = { "--rubric": flags.rubric, "--judge-price": flags.judgePrice };
  const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return undefined;
  throw usageError(`${name} is about a judge, and there is none`, "Give --judge as well.");
}

/** Whether episodes are played in an environment of its own, rather than prompts answered. */
export function isPlayed({ env }: Pick<TrainFlags, "env">): boolean {
  return env !== SINGLE_TURN;
}

async function openEnvironment(given: string): Promise<PlayableEnvironment> {
  // Loaded lazily: scored prompts do not need it.
  const { openPlayable } = await import("../openenv/open-playable.ts");
  return openPlayable(given, (text) => err(warning(text)));
}

function refuseScorers(flags: TrainFlags): void {
  if (!isPlayed(flags)) return;
  const given = {
    "--scorer": flags.scorer[0],
    "--validation-scorer": flags.validationScorer,
    "--cost-scorer": flags.costScorer,
  };
  const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  throw usageError(
    `the environment ${flags.env} gives rewards of its own, and ${name} was given too`,
    `Leave out ${name}, or --env.`,
  );
}
