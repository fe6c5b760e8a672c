/** Every engine that a training can run on, by name. */

import { availableParallelism } from "node:os";
import { dataError, usageError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { LocalEngine } from "../engine/local-engine.ts";
import type { Architecture } from "../policy/architecture.ts";
import { CharacterTokenizer } from "../policy/characters.ts";
import { type Checkpoint, checkpointOf, loadCheckpoint } from "../policy/checkpoint.ts";
import { initialise, SIZES, type Size } from "../policy/initialise.ts";
import { nothingSeen } from "../policy/seen-prompts.ts";
import { JsonlFile } from "../runs/jsonl.ts";
import type { Algorithm } from "./algorithm.ts";
import type { TrainOptions } from "./options.ts";
import type { TrainSettings } from "./settings.ts";
import { toText } from "./sources/texts.ts";

/** What an engine is opened for. */
export interface EngineRequest {
  readonly options: Pick<TrainOptions, "dataset" | "init" | "size" | "threads">;
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

export interface Start {
  readonly dataset: string;
  /** "scratch", "pi0", or the folder of a checkpoint. */
  readonly init: string;
  /** Of a policy from scratch. */
  readonly size: Size;
}

export async function initialPolicy(
  { dataset, init, size }: Start,
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
  const { alphabet, longest } = await survey(dataset);
  const tokenizer = new CharacterTokenizer(alphabet);
  const architecture: Architecture = { ...SIZES[size], vocabulary: tokenizer.size };
  return checkpointOf({
    ...{ architecture, tokenizer, trained: null, seen: nothingSeen() },
    parameters: initialise(architecture, seed),
    maxLength: Math.max(64, Math.ceil((longest + 2) / 16) * 16),
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

/** The characters that a file of texts needs, in order, and how long its longest text is. */
async function survey(file: string): Promise<{ alphabet: string; longest: number }> {
  const characters = new Set<string>();
  let longest = 0;
  for await (const batch of new JsonlFile(file, toText).batches()) {
    for (const { prompt, completion } of batch.flat()) {
      const text = [...prompt, ...completion];
      for (const character of text) characters.add(character);
      longest = Math.max(longest, text.length);
    }
  }
  if (characters.size === 0)
    throw dataError(`${file} is empty`, "Give rows with prompt and completion.");
  return { alphabet: [...characters].sort().join(""), longest };
}
