/** Where training rows come from: data that is read and checked first, then batches made with an engine. */

import type { Environment } from "../core/environment.ts";
import type { PromptSet } from "../core/prompt-set.ts";
import type { Encoder, Engine } from "../engine/engine.ts";
import type { TrainingRow } from "../engine/loss.ts";
import type { SampleRecord } from "../runs/train-records.ts";
import type { Algorithm } from "./algorithm.ts";
import type { RewardGroups } from "./judged/group-rewards.ts";
import type { TrainSettings } from "./settings.ts";
import type { Examples, InputRecord } from "./sources/examples.ts";
import type { HeldOutPrompts } from "./sources/held-out.ts";

/** Seconds. */
export interface BatchSeconds {
  readonly sampling: number;
  readonly scoring: number;
  /** Log-probs by the reference, and values by the policy. */
  readonly logprobs: number;
}

export interface Batch {
  readonly rows: readonly TrainingRow[];
  readonly metrics: Readonly<Record<string, number>>;
  /** How often each outcome code occurred. */
  readonly outcomes?: Readonly<Record<string, number>> | undefined;
  readonly seconds: BatchSeconds;
  /** A few of the episodes that were sampled for it, to be read. */
  readonly samples?: readonly Omit<SampleRecord, "step">[] | undefined;
  /** Of a KL penalty in the loss of this batch. */
  readonly klCoefficient: number;
}

export interface Source {
  batch(step: number): Promise<Batch>;
  /** What a resumed run continues with. */
  state(): unknown;
}

/** What reads the data. */
export interface DataContext {
  /** The file, or what to call the tasks of an environment. */
  readonly dataset: string;
  /** Of an environment, in place of a file. */
  readonly tasks?: Examples | undefined;
  /** Whether the environment is one of its own: what the policy reads is then not the prompt itself. */
  readonly played?: boolean;
  readonly outdir: string;
  readonly algorithm: Algorithm;
  readonly settings: TrainSettings;
  readonly encoder: Encoder;
  readonly heldOut: HeldOutPrompts;
  readonly onProgress?: ((done: number, total: number, what: string) => void) | undefined;
}

/** What makes batches of it. */
export interface SourceParts {
  readonly engine: Engine;
  readonly environment: Environment;
  /** What rewards the groups of a method that samples; the environment itself unless set. */
  readonly rewards?: RewardGroups | undefined;
  /** The state of an earlier source, when a run is resumed. */
  readonly saved: unknown;
}

/** Data that was read and checked. */
export interface TrainingData {
  readonly inputs: readonly InputRecord[];
  /** What the policy learns from; of texts also their lines, which may hold prompts. */
  readonly prompts: PromptSet;
  /** Tokens of the longest row. */
  readonly longest: number;
  /** The most tokens that a completion has. */
  readonly maxTokens: number;
  /** Of methods that sample: what they are sampled for. */
  readonly examples?: Examples | undefined;
  open(parts: SourceParts): Source;
}
