/** Every engine that a training can run on, by name. */

import { availableParallelism } from "node:os";
import { usageError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { LocalEngine } from "../engine/local-engine.ts";
import type { Architecture } from "../policy/architecture.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { type Checkpoint, checkpointOf, loadCheckpoint } from "../policy/checkpoint.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import { nothingSeen } from "../policy/seen-prompts.ts";
import type { Algorithm } from "./algorithm.ts";
import { contextFor, surveyTexts } from "./from-scratch.ts";
import type { TrainOptions } from "./options.ts";
import type { TrainSettings } from "./settings.ts";

/** What an engine is opened for. */
export interface EngineRequest {
  readonly options: Start & Pick<TrainOptions, "threads">;
  readonly algorithm: Algorithm;
  readonly settings: TrainSettings;
}

export type OpenEngine = (request: EngineRequest) => Promise<Engine>;

export const ENGINES = {
  local: openLocalEngine,
} as const satisfies Readonly<Record<string, OpenEngine>>;

export async function openLocalEngine({
  options,
  algorithm,
  settings,
}: EngineRequest): Promise<LocalEngine> {
  const start = await initialPolicy(options, algorithm, settings.seed);
  const { lora, seed } = settings;
  // More threads than processors need memory and save no time.
  const threads = Math.min(options.threads, availableParallelism());
  return new LocalEngine(start, { threads, lora, seed });
}

/** How a policy begins. */
export type Start = Pick<
  TrainOptions,
  "dataset" | "init" | "size" | "alphabet" | "context" | "onScratch"
>;

export async function initialPolicy(
  { dataset, init, size, alphabet, context, onScratch }: Start,
  { name, needs, valueHead = false }: Algorithm,
  seed: number,
): Promise<Checkpoint> {
  if (init !== "scratch") return withValueHead(await loadCheckpoint(init), valueHead);
  if (needs !== "texts") {
    throw usageError(
      `${name} cannot start from scratch: it learns from the policy's own samples or from preferences`,
      "Give --init pi0, which is embedded, or the folder of a checkpoint.",
    );
  }
  const survey = await surveyTexts(dataset ?? "");
  // Characters that the texts have and a given alphabet lacks are refused with their row, when it is read.
  const tokenizer = new CharacterTokenizer(alphabet ?? survey.alphabet);
  const architecture: Architecture = { ...SIZES[size], vocabulary: tokenizer.size };
  const parameters = initialise(architecture, seed);
  const maxLength = context ?? contextFor(survey.longest);
  onScratch?.({
    ...{ ...survey, size, parameters: parameters.length, context: maxLength },
    ...{ alphabet: alphabet ?? survey.alphabet, vocabulary: tokenizer.size },
  });
  return checkpointOf({
    ...{ architecture, tokenizer, trained: null, seen: nothingSeen(), parameters, maxLength },
  });
}

/** Adds a value head that estimates 0 everywhere, if one is needed and missing. */
function withValueHead(checkpoint: Checkpoint, wanted: boolean): Checkpoint {
  const { architecture, parameters } = checkpoint;
  if (!wanted || architecture.valueHead) return checkpoint;
  // It lies behind all other parameters.
  const longer = new Float32Array(parameters.length + architecture.width);
  longer.set(parameters);
  const made = checkpointOf({
    ...checkpoint,
    architecture: { ...architecture, valueHead: true },
    parameters: longer,
  });
  return { ...made, fingerprint: checkpoint.fingerprint };
}
