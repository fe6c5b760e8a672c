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
import { gather, take } from "../graph/ops/indexing.ts";
import { reshape } from "../graph/ops/layout.ts";
import { max, sum } from "../graph/ops/reduce.ts";
import { input, type Tensor } from "../graph/tensor.ts";
import type { Architecture } from "../policy/architecture.ts";
import { type PackedPolicy, packedInputs, packedPolicy } from "../policy/packed-graph.ts";
import type { Weights } from "../policy/transformer.ts";
import type { BatchShape } from "./collate.ts";
import type { Columns, GraphLoss, KlEstimator, Loss, LossInputs } from "./loss.ts";

/** What is fed besides the tokens and their weights. */
export function columnsOf({ columns, kl }: Pick<GraphLoss, "columns" | "kl">): Columns {
  return kl ? { ...columns, reference: "token" } : columns;
}

/**
 * Names of results say how parts of a batch are combined: `mean:` sums over the learned tokens, to be
 * divided by their number; `sum:` numbers to be added; `max:` the largest.
 */
export function lossGraph(
  architecture: Architecture,
  weights: Weights,
  shape: BatchShape,
  call: Pick<GraphLoss, "columns" | "kl" | "build">,
): { loss: Tensor; metrics: Record<string, Tensor> } {
  const { rows, actions, targets } = shape;
  const cells = [rows, actions];
  const fed = new Map(
    Object.entries(columnsOf(call)).map(([name, kind]) => [
      name,
      input(name, kind === "token" ? cells : [rows]),
    ]),
  );
  const policy = packedPolicy(architecture, weights, packedInputs(shape));
  const [from, back] = [
    input("cells", [rows * actions], "i64"),
    input("cells_back", [targets], "i64"),
  ];
  const byRow = (x: Tensor) => reshape(take(x, from, back), cells);
  const mask = input("mask", cells);
  const inputs: LossInputs = {
    rows,
    logprobs: byRow(policy.logprobs),
    mask,
    weights: input("weights", cells),
    rowWeights: input("row_weights", [rows]),
    column: (name) => fed.get(name) as Tensor,
    values: () => byRow(policy.values()),
  };
  const { loss, metrics } = penalised(call.build(inputs), inputs, call.kl);
  const learned = gather(reshape(mask, [rows * actions]), back);
  return {
    loss,
    metrics: {
      ...named("mean:", metrics.tokens ?? {}, (x) => sum(mul(x, mask))),
      ...named("mean:", commonMetrics(policy), (x) => sum(mul(x, learned))),
      ...named("sum:", metrics.sums ?? {}, (x) => x),
      ...named("max:", metrics.largest ?? {}, (x) => max(mul(x, mask))),
    },
  };
}

function penalised(own: Loss, inputs: LossInputs, kl: GraphLoss["kl"]): Loss {
  if (!kl) return own;
  const { logprobs, mask, weights, column } = inputs;
  // Cells outside of the mask have a reference of 0 and any log-prob, so that e^d could be infinite.
  const learned = mul(logprobs, mask);
  const terms = mul(klEstimateGraph(kl, learned, column("reference")), weights);
  const loss = add(own.loss, mul(sum(terms), input("kl_coefficient", [])));
  return { loss, metrics: own.metrics };
}

/** Recorded with every loss: [targets]. */
function commonMetrics({ all, logprobs }: PackedPolicy): Record<string, Tensor> {
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

/** The metrics of all parts as they are recorded. */
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
