/** What an engine is asked to minimise: a graph built on the log-probs of a batch, or a named loss. */

import type { JsonObject } from "../core/json.ts";
import type { TokenRow } from "../core/token-row.ts";
import type { Tensor } from "../graph/tensor.ts";

/** A row with what else the loss reads of it. */
export interface TrainingRow extends TokenRow {
  /** One number for the row, or one for each of the policy's own tokens. */
  readonly columns: Readonly<Record<string, number | ArrayLike<number>>>;
}

/** Whether a column has one number for each token or one for the row. */
export type Columns = Readonly<Record<string, "token" | "row">>;

/** Tensors of a batch, [rows, actions]: a row's learned tokens come first, and there the mask is 1. */
export interface LossInputs {
  readonly rows: number;
  /** Of each learned token under the policy. */
  readonly logprobs: Tensor;
  readonly mask: Tensor;
  /** The reduction as weights: 0 outside of the mask. */
  readonly weights: Tensor;
  /** [rows]: 1 / rows of the batch; 0 for a row of padding. */
  readonly rowWeights: Tensor;
  /** A declared column: [rows, actions] for tokens, [rows] for rows. */
  readonly column: (name: string) => Tensor;
  /** The value head's estimate before each learned token. */
  readonly values: () => Tensor;
}

/** What is recorded besides the loss, by how tokens and parts are combined. */
export interface LossMetrics {
  /** [rows, actions]: the mean over the learned tokens. */
  readonly tokens?: Readonly<Record<string, Tensor>>;
  /** Scalars, added up over the parts of a batch. */
  readonly sums?: Readonly<Record<string, Tensor>>;
  /** [rows, actions]: the largest over the learned tokens. */
  readonly largest?: Readonly<Record<string, Tensor>>;
}

export interface Loss {
  readonly loss: Tensor;
  readonly metrics: LossMetrics;
}

/**
 * How the tokens of a batch are weighted.
 *
 *   sequences      1 / rows: the sum over a row's tokens, the mean over rows
 *   grpo           1 / (rows · tokens of the row): the mean of the rows' token means
 *   bnpo           1 / tokens of the micro-batch
 *   dapo           1 / tokens of the whole batch
 *   dr_grpo        1 / (rows · the most tokens that a completion may have)
 */
export const REDUCTIONS = ["sequences", "grpo", "bnpo", "dapo", "dr_grpo"] as const;
export type Reduction = (typeof REDUCTIONS)[number];

/** Of KL(π ‖ π_ref) from sampled tokens. */
export type KlEstimator = "k1" | "k2" | "k3";

/** A loss as a graph, for engines that can differentiate one. */
export interface GraphLoss {
  readonly kind: "graph";
  readonly columns: Columns;
  readonly reduction: Reduction;
  /** The most tokens that a completion may have. */
  readonly maxTokens: number;
  /** Consecutive rows that it compares: 2 for pairs (default: 1). */
  readonly together?: 1 | 2 | undefined;
  build(inputs: LossInputs): Loss;
  /** A KL penalty in the loss; its coefficient comes with each update. */
  readonly kl?: KlEstimator | undefined;
}

/** A loss that an engine has built in; what its name means is the engine's own definition. */
export interface NamedLoss {
  readonly kind: "named";
  readonly name: string;
  readonly config: JsonObject;
}

export type LossCall = GraphLoss | NamedLoss;
