/** All parameters of a model in one flat vector, and each of them by name, as a slice or an input. */

import { reshape, slice } from "./ops/layout.ts";
import { type Shape, sizeOf } from "./shape.ts";
import { input, type Tensor } from "./tensor.ts";

export interface Parameter {
  readonly name: string;
  readonly shape: Shape;
}

export interface Placed extends Parameter {
  readonly offset: number;
  readonly size: number;
}

export function place(parameters: readonly Parameter[]): {
  list: readonly Placed[];
  total: number;
} {
  let total = 0;
  const list = parameters.map(({ name, shape }) => {
    const offset = total;
    const size = sizeOf(shape);
    total += size;
    return { name, shape, offset, size };
  });
  return { list, total };
}

/** Each parameter as a slice of the vector. */
export function views(vector: Tensor, placed: readonly Placed[]): Map<string, Tensor> {
  return new Map(
    placed.map(({ name, shape, offset, size }) => [
      name,
      reshape(slice(vector, 0, offset, offset + size), shape),
    ]),
  );
}

/** Each parameter as an input; a prefix distinguishes two policies in one graph. */
export function inputsOf(placed: readonly Placed[], prefix = ""): (name: string) => Tensor {
  const inputs = new Map(placed.map(({ name, shape }) => [name, input(prefix + name, shape)]));
  return (name) => inputs.get(name) as Tensor;
}

/** Values for those inputs: views of the vector, without a copy. */
export function feedsOf(
  vector: Float32Array,
  placed: readonly Placed[],
  prefix = "",
): Record<string, Float32Array> {
  return Object.fromEntries(
    placed.map(({ name, offset, size }) => [prefix + name, vector.subarray(offset, offset + size)]),
  );
}
