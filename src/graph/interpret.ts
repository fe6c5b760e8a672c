/** Evaluates a graph in float64: slow, and the reference for testing the runtime. */

import { inOrder } from "./order.ts";
import { sameShape, shapeError, sizeOf } from "./shape.ts";
import type { Inputs, Tensor, Values } from "./tensor.ts";

export type Feeds = ReadonlyMap<Tensor, ArrayLike<number>>;

export function interpret(results: readonly Tensor[], feeds: Feeds = new Map()): Values[] {
  const known = new Map<Tensor, Values>();
  for (const node of inOrder(results)) {
    const fed = feeds.get(node);
    const inputs = node.inputs.map((input) => known.get(input)) as unknown as Inputs<Values>;
    const data = fed ? Float64Array.from(fed) : node.op.evaluate(inputs, node.attributes, node);
    if (data.length !== sizeOf(node.shape)) {
      throw shapeError(node.op.name, `${data.length} values do not fill the shape`, node.shape);
    }
    known.set(node, { shape: node.shape, data });
  }
  return results.map((result) => known.get(result) as Values);
}

/** Central differences of a scalar with respect to one leaf, the reference for gradients. */
export function differences(loss: Tensor, x: Tensor, feeds: Feeds, step = 1e-5): Float64Array {
  const start = Float64Array.from(feeds.get(x) ?? []);
  if (!sameShape(loss.shape, []))
    throw shapeError("differences", "the loss must be a single number", loss.shape);
  const at = (i: number, shift: number) => {
    const moved = Float64Array.from(start);
    moved[i] = (moved[i] as number) + shift;
    return (interpret([loss], new Map([...feeds, [x, moved]]))[0] as Values).data[0] as number;
  };
  return start.map((_, i) => (at(i, step) - at(i, -step)) / (2 * step));
}
