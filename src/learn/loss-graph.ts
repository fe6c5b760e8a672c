/** The graph of an algorithm's loss: the policy on a batch, the loss, a KL penalty, what is watched. */

import {
  add,
  cast,
  exp,
  greaterOrEqual,
  mul,
  neg,
  stopGradient,
} from "../graph/ops/elementwise.ts";
import { pick } from "../graph/ops/indexing.ts";
import { max, sum } from "../graph/ops/reduce.ts";
import { logSoftmax } from "../graph/ops/softmax.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "../policy/architecture.ts";
import { head, hiddenOf, valuesOf, type Weights } from "../policy/transformer.ts";
import type { Algorithm, Columns, Loss, LossInputs } from "./algorithm.ts";
import { type Estimator, estimateOf } from "./parts/kl.ts";

export interface BatchShape {
  readonly rows: number;
  readonly length: number;
}

/** Which KL penalty the loss carries; its coefficient is fed, because it may be steered. */
export interface Penalty {
  readonly estimator: Estimator;
}

/** What is fed besides tokens, targets, mask and weights. */
export function columnsOf({ columns }: Algorithm, penalty: Penalty | undefined): Columns {
  return penalty ? { ...columns, reference: "token" } : columns;
}

/**
 * Names of results say how they are put together: `mean:` sums over the learned tokens, to be divided
 * by their number; `sum:` numbers that parts add up; `max:` the largest.
 */
export function lossGraph(
  architecture: Architecture,
  weights: Weights,
  { rows, length }: BatchShape,
  algorithm: Algorithm,
  settings: unknown,
  penalty?: Penalty,
): { loss: Tensor; watched: Record<string, Tensor> } {
  const shape = [rows, length];
  const tokens = input("tokens", shape, "i64");
  const targets = input("targets", shape, "i64");
  const mask = input("mask", shape);
  const columns = columnsOf(algorithm, penalty);
  const fed = new Map(
    Object.entries(columns).map(([name, kind]) => [
      name,
      input(name, kind === "token" ? shape : [rows]),
    ]),
  );
  const hidden = hiddenOf(architecture, weights, tokens);
  const all = logSoftmax(head(architecture, weights, hidden));
  const logprobs = pick(all, targets);
  const shown: LossInputs = {
    rows,
    logprobs,
    mask,
    weights: input("weights", shape),
    rowWeights: input("row_weights", [rows]),
    column: (name) => fed.get(name) as Tensor,
    values: () => valuesOf(architecture, weights, hidden),
  };
  const { loss, watched } = penalised(algorithm.loss(shown, settings), shown, penalty);
  const means = { ...watched.tokens, ...everyLossShows(all, logprobs) };
  return {
    loss,
    watched: {
      ...named("mean:", means, (x) => sum(mul(x, mask))),
      ...named("sum:", watched.sums ?? {}, (x) => x),
      ...named("max:", watched.largest ?? {}, (x) => max(mul(x, mask))),
    },
  };
}

function penalised(own: Loss, shown: LossInputs, penalty?: Penalty): Loss {
  if (!penalty) return own;
  const { logprobs, mask, weights, column } = shown;
  // Outside of the mask the reference is 0, and e^d of an unlikely prompt would be infinite.
  const learned = mul(logprobs, mask);
  const terms = mul(estimateOf(penalty.estimator, learned, column("reference")), weights);
  const loss = add(own.loss, mul(sum(terms), input("kl_coefficient", [])));
  return { loss, watched: own.watched };
}

function everyLossShows(all: Tensor, logprobs: Tensor): Record<string, Tensor> {
  return {
    entropy: neg(sum(mul(exp(all), all), -1)),
    token_accuracy: cast(greaterOrEqual(logprobs, max(all, -1))),
  };
}

function named(
  prefix: string,
  tensors: Readonly<Record<string, Tensor>>,
  reduce: (x: Tensor) => Tensor,
): Record<string, Tensor> {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, x]) => [prefix + name, stopGradient(reduce(x))]),
  );
}

/** The watched numbers of all parts as they are recorded. */
export function recorded(
  parts: readonly Readonly<Record<string, number>>[],
  learnedTokens: number,
): Record<string, number> {
  const found: Record<string, number> = {};
  for (const part of parts) {
    for (const [key, value] of Object.entries(part)) {
      const [kind, name] = [key.slice(0, key.indexOf(":")), key.slice(key.indexOf(":") + 1)];
      if (kind === "max") found[name] = Math.max(found[name] ?? Number.NEGATIVE_INFINITY, value);
      else found[name] = (found[name] ?? 0) + (kind === "mean" ? value / learnedTokens : value);
    }
  }
  return found;
}
