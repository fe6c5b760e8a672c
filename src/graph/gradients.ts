/** Reverse-mode differentiation: the backward pass as more of the same graph. */

import { add } from "./ops/elementwise.ts";
import { zeros } from "./ops/layout.ts";
import { sumTo } from "./ops/reduce.ts";
import { inOrder } from "./order.ts";
import { shapeError } from "./shape.ts";
import { scalar, type Tensor } from "./tensor.ts";

/** ∂loss/∂x for each x of `wrt`; a tensor that the loss does not depend on gets zeros. */
export function gradients(loss: Tensor, wrt: readonly Tensor[]): Tensor[] {
  if (loss.size !== 1 || loss.shape.length !== 0) {
    throw shapeError("gradients", "the loss must be a single number", loss.shape);
  }
  const order = inOrder([loss]);
  const needed = dependents(order, wrt);
  const flowing = new Map<Tensor, Tensor>([[loss, scalar(1)]]);
  for (const node of order.toReversed()) {
    const outer = flowing.get(node);
    if (!outer || !needed.has(node) || wrt.includes(node)) continue;
    for (const [i, inner] of (node.op.gradient?.(node, outer) ?? []).entries()) {
      const input = node.inputs[i] as Tensor;
      if (!inner || !needed.has(input)) continue;
      const slope = sumTo(inner, input.shape);
      const before = flowing.get(input);
      flowing.set(input, before ? add(before, slope) : slope);
    }
  }
  return wrt.map((x) => flowing.get(x) ?? zeros(x.shape));
}

/** The nodes through which something of `wrt` reaches the loss. */
function dependents(order: readonly Tensor[], wrt: readonly Tensor[]): Set<Tensor> {
  const found = new Set<Tensor>(wrt);
  for (const node of order) if (node.inputs.some((input) => found.has(input))) found.add(node);
  return found;
}
