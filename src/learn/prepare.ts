/** What a run reads and checks before its folder is touched. */

import type { Environment, PlayableEnvironment } from "../core/environment.ts";
import type { SeenPrompts } from "../core/policy.ts";
import type { Engine, EngineIdentity } from "../engine/engine.ts";
import { nothingSeen } from "../policy/seen-prompts.ts";
import { observeOccasion } from "../runs/manifest.ts";
import type { TrainManifest } from "../runs/train-schemas.ts";
import type { Algorithm } from "./algorithm.ts";
import { type Described, manifestOf } from "./describe-run.ts";
import { ENGINES, type OpenEngine } from "./engines.ts";
import { environmentOf, ownEnvironment, playableOf } from "./environment-of.ts";
import type { ScratchPolicy } from "./from-scratch.ts";
import {
  noDevTasks,
  requireJudgeable,
  requireSameTasks,
  requireValidationEnvironment,
} from "./judged/refusals.ts";
import { named } from "./named.ts";
import type { TrainOptions } from "./options.ts";
import {
  noTasks,
  refuseLearnedFrom,
  refuseLearnedPrompts,
  refuseUnreadable,
  requireData,
  requireExamples,
  requireScorers,
  requireValidation,
} from "./refusals.ts";
import { sabotageOf } from "./sabotage.ts";
import type { TrainSettings } from "./settings.ts";
import type { TrainingData } from "./source.ts";
import {
  checkCompletions,
  type Examples,
  longestRow,
  promptsOf,
  readExamples,
  readTasks,
} from "./sources/examples.ts";
import { HeldOutPrompts } from "./sources/held-out.ts";
import { isSampled, readTrainingData } from "./sources/index.ts";

interface HeldOut {
  readonly dev: Examples | undefined;
  readonly holdout: Examples | undefined;
}

export interface Prepared extends Described, HeldOut {
  readonly engine: Engine;
  readonly environment: Environment;
  readonly data: TrainingData;
  readonly manifest: () => Promise<TrainManifest>;
  /** What was made of the texts; told once nothing is refused any more. */
  readonly scratch: ScratchPolicy | undefined;
}

/** The engine is open; whoever has it closes it. */
export async function prepare(
  options: TrainOptions,
  algorithm: Algorithm,
  settings: TrainSettings,
): Promise<Prepared> {
  const occasion = observeOccasion();
  requireData(options, algorithm);
  requireScorers(options, settings, algorithm);
  requireJudgeable(options, algorithm, settings.rollouts.group);
  requireValidationEnvironment(options);
  requireValidation(options, settings);
  const { rewards = [], cost } = options;
  const { weights } = settings;
  const environment = environmentOf(options, { scorers: rewards, weights, cost });
  let scratch: ScratchPolicy | undefined;
  const onScratch = (policy: ScratchPolicy) => {
    scratch = policy;
  };
  const engine = await engineOf({ ...options, onScratch }, algorithm, settings);
  try {
    const played = ownEnvironment(options) !== undefined;
    const held = await readHeldOut(options, settings);
    requireExamples(held.dev, settings);
    const sets = [held.dev, held.holdout].filter((set) => set !== undefined);
    refuseLearnedFrom(engine.identity, sets);
    const tasks = await trainTasks(options);
    const data = await readTrainingData({
      ...{ dataset: options.dataset ?? tasks?.name ?? "", tasks, played },
      ...{ outdir: options.outdir, onProgress: options.onProgress },
      ...{ algorithm, settings, encoder: engine.encoder, heldOut: new HeldOutPrompts(sets) },
    });
    await refuseUnreadable([...rewards, cost], [data.examples]);
    await refuseUnreadable([options.validation ?? rewards[0]], sets);
    if (algorithm.needs === "texts") {
      for (const set of sets) checkCompletions(set, engine.encoder);
    }
    const length = lengthOf(data, engine, sets, settings, played);
    const seen = seenWith(engine.identity, data, held.dev);
    refuseLearnedPrompts(seen, sets);
    const described: Described = {
      ...{ options, algorithm, settings, length, seen, start: engine.identity },
      inputs: [...data.inputs, ...sets.map(({ input }) => input)],
      environmentIdentity: isSampled(algorithm.needs) ? environment.identity : null,
    };
    const manifest = async () => manifestOf(described, await occasion());
    return { ...described, ...held, engine, environment, data, manifest, scratch };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function readHeldOut(options: TrainOptions, { evaluate }: TrainSettings): Promise<HeldOut> {
  const { dev, holdout } = options;
  const playable = evaluate.every > 0 ? playableOf(options) : undefined;
  return {
    dev:
      dev === undefined
        ? playable && (await devTasks(playable, options, evaluate.tasks))
        : await readExamples(dev, "dev"),
    holdout: holdout === undefined ? undefined : await readExamples(holdout, "holdout"),
  };
}

/** Those of the labelled environment where there is one: only its tasks may hold the labels. */
async function devTasks(
  playable: PlayableEnvironment,
  { validationEnvironment: labelled }: TrainOptions,
  most: number,
): Promise<Examples | undefined> {
  const own = await readTasks(playable, "dev", "dev", most);
  if (!labelled || !own) return own;
  const tasks = await readTasks(labelled, "dev", "dev", most);
  if (!tasks) throw noDevTasks(labelled);
  requireSameTasks(own, tasks);
  return tasks;
}

/** What is learned from where no file is given. */
async function trainTasks(options: TrainOptions): Promise<Examples | undefined> {
  const playable = playableOf(options);
  if (options.dataset !== undefined || !playable) return undefined;
  const tasks = await readTasks(playable, "train", "examples");
  if (!tasks) throw noTasks(playable);
  return tasks;
}

/** What the policy will have seen; an initial policy of unknown past counts as one without. */
function seenWith(
  { seen }: EngineIdentity,
  { prompts }: TrainingData,
  dev: Examples | undefined,
): SeenPrompts {
  const { learned, validated } = seen ?? nothingSeen();
  return {
    learned: learned.joinedWith(prompts),
    validated: dev ? validated.joinedWith(promptsOf(dev)) : validated,
  };
}

/** Tokens of a row, prompt and completion: the longest that can come up, in steps of eight. */
function lengthOf(
  data: TrainingData,
  { encoder }: Engine,
  sets: readonly Examples[],
  { evaluate: { max_tokens: most } }: TrainSettings,
  played: boolean,
): number {
  const prompts = sets.map((set) => longestRow(set, { encoder, played }, most));
  const longest = Math.max(data.longest, ...prompts);
  return Math.min(encoder.maxLength, Math.ceil(longest / 8) * 8);
}

/** The engine that everything uses, sabotaged where that is set. */
async function engineOf(
  options: TrainOptions,
  algorithm: Algorithm,
  settings: TrainSettings,
): Promise<Engine> {
  const open = named<OpenEngine>("engine", ENGINES, options.engine ?? "local");
  const engine = await open({ options, algorithm, settings });
  return sabotageOf(settings.sabotage).engine?.(engine) ?? engine;
}
