/**
 * What a learning method is: what it needs to learn from, its settings, and its loss. The training
 * loop knows nothing else of it.
 */

import type { z } from "zod";
import type { JsonObject } from "../core/json.ts";
import type { Tensor } from "../graph/tensor.ts";

/** A prompt with a completion as tokens, and what else the loss reads of it. */
export interface Row {
  readonly tokens: readonly number[];
  /** How many of the tokens are the prompt's. */
  readonly prompt: number;
  /** One number for the row, or one for each token of the completion. */
  readonly columns: Readonly<Record<string, number | ArrayLike<number>>>;
}

/** Whether a column has one number for each token or one for the row. */
export type Columns = Readonly<Record<string, "token" | "row">>;

/** What a loss sees of a batch: tensors [rows, length], with targets where the mask is 1. */
export interface LossInputs {
  readonly rows: number;
  /** Of each target under the policy. */
  readonly logprobs: Tensor;
  readonly mask: Tensor;
  /** The reduction as weights: 0 outside of the mask. */
  readonly weights: Tensor;
  /** [rows]: 1 / rows of the batch; 0 for a row that only fills up. */
  readonly rowWeights: Tensor;
  /** A declared column: [rows, length] for tokens, [rows] for rows. */
  readonly column: (name: string) => Tensor;
  /** What each position is worth, by the value head. */
  readonly values: () => Tensor;
}

/** What a loss shows besides itself, by how parts and tokens are put together. */
export interface LossMetrics {
  /** [rows, length]: the mean over the learned tokens is recorded. */
  readonly tokens?: Readonly<Record<string, Tensor>>;
  /** Single numbers, which parts of a batch add up. */
  readonly sums?: Readonly<Record<string, Tensor>>;
  /** [rows, length]: the largest over the learned tokens is recorded. */
  readonly largest?: Readonly<Record<string, Tensor>>;
}

export interface Loss {
  readonly loss: Tensor;
  readonly watched: LossMetrics;
}

/**
 * How the tokens of a batch are weighed.
 *
 *   sequences      1 / rows: the sum over a row's tokens, the mean over rows
 *   grpo           1 / (rows · tokens of the row): the mean of the rows' token means
 *   bnpo           1 / tokens of the part of the batch that is computed at once
 *   dapo           1 / tokens of the whole batch
 *   dr_grpo        1 / (rows · the most tokens that a completion may have)
 */
export const REDUCTIONS = ["sequences", "grpo", "bnpo", "dapo", "dr_grpo"] as const;
export type Reduction = (typeof REDUCTIONS)[number];

/** Something learned from, in the order in which an algorithm is asked. */
export type Need = "texts" | "passing samples" | "pairs" | "labels" | "rollouts";

export interface Algorithm<S = unknown> {
  readonly name: string;
  /** One line for people. */
  readonly about: string;
  readonly needs: Need;
  /** Its own settings with their defaults; all of them go into the manifest. */
  readonly settings: z.ZodType<S>;
  /** Settings of the run that suit it better than the general defaults. */
  readonly usual?: JsonObject;
  readonly columns: Columns;
  reduction(settings: S): Reduction;
  /** Whether its loss reads the frozen start's log-probs, in the column `reference`. */
  readonly reference?: boolean;
  readonly valueHead?: boolean;
  /** Where a KL penalty belongs unless told otherwise. */
  readonly klPlace?: KlPlace;
  /** How often each batch is used, and in how many moves; once and whole unless said. */
  passes?(settings: S): { readonly epochs: number; readonly minibatches: number };
  loss(shown: LossInputs, settings: S): Loss;
  /** Of algorithms that need rollouts: how much better each token was than expected. */
  credit?(groups: readonly Group[], settings: S, memory: Memory): Credit;
}

export type KlPlace = "loss" | "reward";

/** A sampled completion with its reward, as credit is given. */
export interface Rewarded {
  /** With the penalties taken off. */
  readonly reward: number;
  /** As the scorers gave it. */
  readonly score: number;
  /** Of each token: the KL coefficient times k1 where the penalty belongs to the reward, else 0. */
  readonly penalties: ArrayLike<number>;
  /** Of each token, when it was sampled. */
  readonly old: ArrayLike<number>;
  /** Of each token, by the value head. */
  readonly values: ArrayLike<number> | undefined;
}

/** All completions of one prompt. */
export type Group = readonly Rewarded[];

export interface Credit {
  /** For each completion of each group its columns, such as `advantage`. */
  readonly columns: readonly (readonly Row["columns"][])[];
  readonly record: Readonly<Record<string, number>>;
}

/** What an algorithm remembers from step to step, such as a running mean; it is saved with the run. */
export type Memory = { [name: string]: JsonObject[string] };
