/**
 * What a learning method is: what it needs to learn from, its settings, and its loss. The training
 * loop knows nothing else of it.
 */

import type { z } from "zod";
import type { JsonObject } from "../core/json.ts";
import type { Columns, Loss, LossInputs, Reduction, TrainingRow } from "../engine/loss.ts";

/** What a method learns from. */
export type Need = "texts" | "passing samples" | "pairs" | "labels" | "rollouts";

export type KlPlace = "loss" | "reward";

export interface Algorithm<S = unknown, M = unknown> {
  readonly name: string;
  /** One line for people. */
  readonly about: string;
  readonly needs: Need;
  /** Its own settings with their defaults; all of them go into the manifest. */
  readonly settings: z.ZodType<S>;
  /** Its number of updates, and settings of the run that suit it better than the general defaults. */
  readonly defaults: JsonObject & { readonly steps: number };
  readonly columns: Columns;
  reduction(settings: S): Reduction;
  /** Whether its loss reads the reference's log-probs, in the column `reference`. */
  readonly reference?: boolean;
  readonly valueHead?: boolean;
  /** Whether its advantages compare the completions of a prompt, so that equal rewards teach nothing. */
  grouped?(settings: S): boolean;
  /** Where a KL penalty is added unless set. */
  readonly klPlace?: KlPlace;
  /** How often each batch is used, and in how many updates; once and whole unless set. */
  passes?(settings: S): { readonly epochs: number; readonly minibatches: number };
  loss(inputs: LossInputs, settings: S): Loss;
  /** The loss by the name that engines without graphs know it by. */
  readonly namedLoss?: string;
  /** What it keeps from step to step, such as a running mean; it is saved with the run. */
  readonly memory?: { readonly schema: z.ZodType<M>; readonly initial: M };
  /** Of methods that need rollouts: the advantage of each token. */
  advantages?(groups: readonly EpisodeGroup[], settings: S, memory: M): Advantages<M>;
}

/**
 * An episode with its reward, or a turn or segment of one, as advantages are computed from it. Lists
 * have one number per action.
 */
export interface ScoredEpisode {
  /** Where parts of one episode are in the same group: which episode of the group it is a part of. */
  readonly partOf?: number | undefined;
  /** Penalties subtracted. */
  readonly reward: number;
  /** From the environment, with the price of cost subtracted. */
  readonly score: number;
  /** The score of each token, where turns have rewards of their own; unless given, all of it at the last. */
  readonly tokenScores?: ArrayLike<number> | undefined;
  /** The KL coefficient times the estimate where the penalty belongs to the reward, else 0. */
  readonly penalties: ArrayLike<number>;
  /** Log-probs when it was sampled. */
  readonly old: ArrayLike<number>;
  /** By the value head. */
  readonly values: ArrayLike<number> | undefined;
}

/** All episodes of one task. */
export type EpisodeGroup = readonly ScoredEpisode[];

export interface Advantages<M = unknown> {
  /** For each episode of each group its columns, such as `advantage`. */
  readonly columns: readonly (readonly TrainingRow["columns"][])[];
  readonly metrics: Readonly<Record<string, number>>;
  /** What it keeps for the next step. */
  readonly memory?: M;
}
