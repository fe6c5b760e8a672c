/** The graph of a loss: the policy on a batch, the loss itself, a KL penalty, the metrics. */

import {
  add,
  cast,
  exp,
  greaterOrEqual,
  mul,
  neg,
  stopGradient,
  sub,
} from "../graph/ops/elementwise.ts";
import { pick } from "../graph/ops/indexing.ts";
import { max, sum } from "../graph/ops/reduce.ts";
import { logSoftmax } from "../graph/ops/softmax.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "../policy/architecture.ts";
import { head, hiddenOf, valuesOf, type Weights } from "../policy/transformer.ts";
import type { Columns, GraphLoss, KlEstimator, Loss, LossInputs } from "./loss.ts";

export interface BatchShape {
  readonly rows: number;
  readonly length: number;
}

/** What is fed besides tokens, targets, mask and weights. */
export function columnsOf({ columns, kl }: Pick<GraphLoss, "columns" | "kl">): Columns {
  return kl ? { ...columns, reference: "token" } : columns;
}

/**
 * Names of results say how micro-batches are combined: `mean:` sums over the learned tokens, to be
 * divided by their number; `sum:` numbers to be added; `max:` the largest.
 */
export function lossGraph(
  architecture: Architecture,
  weights: Weights,
  { rows, length }: BatchShape,
  call: Pick<GraphLoss, "columns" | "kl" | "build">,
): { loss: Tensor; metrics: Record<string, Tensor> } {
  const shape = [rows, length];
  const tokens = input("tokens", shape, "i64");
  const targets = input("targets", shape, "i64");
  const mask = input("mask", shape);
  const fed = new Map(
    Object.entries(columnsOf(call)).map(([name, kind]) => [
      name,
      input(name, kind === "token" ? shape : [rows]),
    ]),
  );
  const hidden = hiddenOf(architecture, weights, tokens);
  const all = logSoftmax(head(architecture, weights, hidden));
  const logprobs = pick(all, targets);
  const inputs: LossInputs = {
    rows,
    logprobs,
    mask,
    weights: input("weights", shape),
    rowWeights: input("row_weights", [rows]),
    column: (name) => fed.get(name) as Tensor,
    values: () => valuesOf(architecture, weights, hidden),
  };
  const { loss, metrics } = penalised(call.build(inputs), inputs, call.kl);
  const means = { ...metrics.tokens, ...commonMetrics(all, logprobs) };
  return {
    loss,
    metrics: {
      ...named("mean:", means, (x) => sum(mul(x, mask))),
      ...named("sum:", metrics.sums ?? {}, (x) => x),
      ...named("max:", metrics.largest ?? {}, (x) => max(mul(x, mask))),
    },
  };
}

function penalised(own: Loss, inputs: LossInputs, kl: GraphLoss["kl"]): Loss {
  if (!kl) return own;
  const { logprobs, mask, weights, column } = inputs;
  // Outside of the mask the reference is 0, and e^d of an unlikely prompt would be infinite.
  const learned = mul(logprobs, mask);
  const terms = mul(klEstimateGraph(kl, learned, column("reference")), weights);
  const loss = add(own.loss, mul(sum(terms), input("kl_coefficient", [])));
  return { loss, metrics: own.metrics };
}

/** Recorded with every loss. */
function commonMetrics(all: Tensor, logprobs: Tensor): Record<string, Tensor> {
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

/** The metrics of all micro-batches as they are recorded. */
export function combinedMetrics(
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

/** Of one token, with d = log π_ref − log π. All three estimate KL(π ‖ π_ref); k2 is biased. */
export function klEstimate(kind: KlEstimator, logprob: number, reference: number): number {
  const d = reference - logprob;
  if (kind === "k1") return -d;
  return kind === "k2" ? (d * d) / 2 : Math.exp(d) - d - 1;
}

/** The same in the graph, with a gradient through `logprobs`. */
export function klEstimateGraph(kind: KlEstimator, logprobs: Tensor, reference: Tensor): Tensor {
  const d = sub(reference, logprobs);
  if (kind === "k1") return sub(logprobs, reference);
  return kind === "k2" ? mul(mul(d, d), 0.5) : sub(sub(exp(d), d), 1);
}
