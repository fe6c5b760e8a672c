/** What holds weights: it samples, computes log-probs and learns. The embedded engine is one; a server can be. */

import type { JsonObject } from "../core/json.ts";
import type { SamplingSettings, SeenPrompts } from "../core/policy.ts";
import type { TokenRow } from "../core/token-row.ts";
import type { AdamSettings } from "../graph/train-step.ts";
import type { Conversation } from "../policy/conversation.ts";
import type { Generation, GenerationRequest } from "../policy/generate.ts";
import type { TokenStats } from "../policy/teacher-forced.ts";
import type { LossCall, TrainingRow } from "./loss.ts";

/** The weights that learn, or the frozen ones that they began as. */
export type WeightSet = "policy" | "reference";

export interface EngineAbilities {
  /** Whether a loss may be given as a graph. */
  readonly graphLoss: boolean;
  /** The losses that it knows by name. */
  readonly losses: readonly string[];
  /** Whether it can compare whole next-token distributions. */
  readonly exactKl: boolean;
  /** Whether the same calls give the same bytes. */
  readonly sameBytes: boolean;
}

/** What the engine began with. */
export interface EngineIdentity {
  /** The sort of engine, such as "local". */
  readonly kind: string;
  readonly fingerprint: string;
  readonly architecture: JsonObject;
  /** How those weights were learned, as their checkpoint says; null when it says nothing. */
  readonly trained: JsonObject | null;
  /** The prompts that they have seen; null or absent when it is unknown. */
  readonly seen?: SeenPrompts | null | undefined;
}

/** How texts become tokens. */
export interface Encoder {
  /** A prompt as the policy was trained to read it. */
  promptTokens(text: string): readonly number[];
  encode(text: string): readonly number[];
  /** How the messages of several turns become tokens. */
  readonly conversation: Conversation;
  /** The token that ends a completion. */
  readonly endToken: number;
  /** The most tokens of a row, prompt included. */
  readonly maxLength: number;
}

export interface UpdateOptions {
  readonly learningRate: number;
  readonly adam: AdamSettings;
  /** The most rows computed at once; null for what the engine finds best. */
  readonly microBatchSize: number | null;
  readonly klCoefficient: number;
}

export interface UpdateResult {
  readonly loss: number;
  readonly gradientNorm: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** Positions that a row used, as a share of those computed; undefined where that is not known. */
  readonly usedShare?: number | undefined;
}

export interface CheckpointOptions {
  /** How the policy was learned; it is written into the checkpoint. */
  readonly trained: JsonObject;
  /** The prompts that it has seen; written beside it. */
  readonly seen?: SeenPrompts | null | undefined;
  /** Where the adapters by themselves are written too, if only adapters are trained. */
  readonly adapterDir?: string | undefined;
}

export interface Engine {
  readonly identity: EngineIdentity;
  readonly can: EngineAbilities;
  readonly encoder: Encoder;
  sample(
    requests: readonly GenerationRequest[],
    settings: SamplingSettings,
  ): Promise<readonly Generation[]>;
  /** Of each of the policy's own tokens; with `exactKl`, the KL to the reference as well. */
  tokenStats(
    rows: readonly TokenRow[],
    of: WeightSet,
    options?: { readonly exactKl?: boolean },
  ): Promise<readonly TokenStats[]>;
  /** One optimiser step. */
  update(
    rows: readonly TrainingRow[],
    loss: LossCall,
    options: UpdateOptions,
  ): Promise<UpdateResult>;
  /** A hash of the weights as they are now. */
  hashOf(of: WeightSet): Promise<string>;
  /**
   * Writes everything that the next update depends on into an existing folder; gives the SHA-256 of
   * each file, by name.
   */
  saveState(dir: string): Promise<Readonly<Record<string, string>>>;
  loadState(dir: string): Promise<void>;
  exportCheckpoint(dir: string, options: CheckpointOptions): Promise<{ fingerprint: string }>;
  /** Takes over the weights that `exportCheckpoint` wrote. */
  loadCheckpoint(dir: string, options?: Pick<CheckpointOptions, "adapterDir">): Promise<void>;
  close(): Promise<void>;
}

/** The same engine with some methods replaced. */
export function wrapEngine(engine: Engine, replaced: Partial<Engine>): Engine {
  return new Proxy(engine, {
    get(target, name) {
      const value = replaced[name as keyof Engine] ?? Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
