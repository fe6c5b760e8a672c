/** The nodes that some results need, each after its inputs, and each only once. */

import { Tensor } from "./tensor.ts";

/** Nodes that are not reached are dead code. */
export function inOrder(results: readonly Tensor[]): Tensor[] {
  const seen = new Set<Tensor>();
  const order: Tensor[] = [];
  // Iterative, because the graph of a training step is deeper than the call stack.
  const stack: { readonly node: Tensor; next: number }[] = [];
  for (const result of results) {
    if (!seen.has(result)) stack.push({ node: result, next: 0 });
    seen.add(result);
    while (stack.length > 0) {
      const top = stack[stack.length - 1] as (typeof stack)[number];
      const input = top.node.inputs[top.next++];
      if (input === undefined) {
        order.push(top.node);
        stack.pop();
      } else if (!seen.has(input)) {
        seen.add(input);
        stack.push({ node: input, next: 0 });
      }
    }
  }
  return order;
}

/** The same results with every repeated subexpression computed once. */
export function withoutRepetition(results: readonly Tensor[]): Tensor[] {
  const known = new Map<string, Tensor>();
  const numbers = new Map<Tensor, number>();
  const kept = new Map<Tensor, Tensor>();
  for (const node of inOrder(results)) {
    const inputs = node.inputs.map((input) => kept.get(input) as Tensor);
    const key = [
      node.op.name,
      JSON.stringify(node.attributes),
      ...inputs.map((input) => numbers.get(input)),
    ].join(" ");
    const twin = known.get(key);
    if (twin) {
      kept.set(node, twin);
      continue;
    }
    const same = inputs.every((input, i) => input === node.inputs[i]);
    const fresh = same ? node : new Tensor(node.op, inputs, node.attributes);
    known.set(key, fresh);
    numbers.set(fresh, numbers.size);
    kept.set(node, fresh);
  }
  return results.map((result) => kept.get(result) as Tensor);
}
